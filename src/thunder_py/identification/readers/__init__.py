"""Readers of log files: CSV, NPZ, Parquet, ROS bags, files of `SimulationResult.save`; all read in parts."""

from .archive import ArchiveReader
from .bag import BagReader
from .csv_table import CSVReader
from .names import Names
from .parquet import ParquetReader

__all__ = ["ArchiveReader", "BagReader", "CSVReader", "Names", "ParquetReader"]
