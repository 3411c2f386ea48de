-- Temporal keeps what its lists and searches read in a database of its own.
CREATE DATABASE temporal_visibility;
