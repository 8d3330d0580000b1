"""Takes as files that other programs open."""

from gaitway.export.bvh import export_bvh
from gaitway.export.dense import export_dense
from gaitway.export.formats import FORMATS, ExportFormat, choose_format, export_take
from gaitway.export.glb import export_glb
from gaitway.export.meshes import character_mesh
from gaitway.export.tables import export_trajectories
from gaitway.export.usd import export_usd

__all__ = [
    "FORMATS",
    "ExportFormat",
    "character_mesh",
    "choose_format",
    "export_bvh",
    "export_dense",
    "export_glb",
    "export_take",
    "export_trajectories",
    "export_usd",
]
