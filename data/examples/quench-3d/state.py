"""ParaView's state for the quench: File > Load State in ParaView, or pvbatch state.py [PICTURE.png] from here.

The surface u = 0 between the two phases in every output, inside the outline of the domain, with a play button for time."""

import os
import sys

from paraview.simple import *

folder = os.path.dirname(os.path.abspath(globals().get("__file__", "state.py")))
series = PVDReader(registrationName="quench", FileName=os.path.join(folder, "out", "fields.pvd"))
surface = Contour(registrationName="between the phases", Input=series, ContourBy=["POINTS", "u"], Isosurfaces=[0.0])

view = GetActiveViewOrCreate("RenderView")
view.ViewSize = [600, 540]
view.UseColorPaletteForBackground = 0
view.Background = [1.0, 1.0, 1.0]
outline = Show(series, view)
outline.Representation = "Outline"
outline.AmbientColor = outline.DiffuseColor = [0.3, 0.3, 0.3]
display = Show(surface, view)
ColorBy(display, None)
display.DiffuseColor = [0.35, 0.55, 0.85]
display.BackfaceRepresentation = "Surface"
display.BackfaceDiffuseColor = [0.9, 0.65, 0.3]

times = GetAnimationScene()
times.UpdateAnimationUsingDataTimeSteps()
times.GoToLast()
view.CameraPosition = [-70.0, -90.0, 110.0]
view.CameraFocalPoint = [23.5, 23.5, 23.5]
view.CameraViewUp = [0.0, 0.0, 1.0]
view.CameraParallelScale = 42.0
Render(view)
if len(sys.argv) > 1 and sys.argv[-1].endswith(".png"):
    SaveScreenshot(sys.argv[-1], view)
