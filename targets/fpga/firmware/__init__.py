"""The runtime of the soft processor in freestanding C99, and where its sources are."""

from pathlib import Path

FOLDER = Path(__file__).parent
