"""Orders of the nodes of a graph, in which batches of targets that follow each other share inputs."""
