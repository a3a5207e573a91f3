"""A folder in which a run keeps what is as large as the graph, so that it needs little memory and can be resumed.

array_file    rows of numbers in an .npy file, written in pieces and mapped when complete
csc_file      the edges of a set by the node at one end, put in order out of core
tiled_edges   the same edges in cells: from a tile of sources to a range of targets
edge_stream   the edges of a set in pieces, as a term over the graph's relations
journal       what has been done, a checked line each
writer        a thread that writes rows, syncs them and then journals them
folder        the layout of a store, its lock, and what its disk must hold

Nothing here knows the IR.
"""
