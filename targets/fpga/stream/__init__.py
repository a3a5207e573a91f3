"""The binary task stream: its layout, a writer, a reader, and what it says in words; see docs/task-stream.md."""
