"""Small BVH files for tests, written out so that their mistakes can be placed at will."""

from __future__ import annotations

HEADER = """HIERARCHY
ROOT Hips
{
  OFFSET 0 0 0
  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation
  JOINT Arm
  {
    OFFSET 0 2 0
    CHANNELS 3 Zrotation Yrotation Xrotation
    End Site
    {
      OFFSET 0 1 0
    }
  }
}
"""
MOTION = """MOTION
Frames: 2
Frame Time: 0.0333333
"""
ROWS = """1 2 3 90 0 0 0 0 0
1 2 3 0 0 90 0 0 45
"""
SMALL = HEADER + MOTION + ROWS
"""The hierarchy has 15 lines, MOTION is line 16, the first row line 19."""
