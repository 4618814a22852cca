"""Every address below /api/."""

from django.urls import URLPattern, path, re_path
from drf_spectacular.utils import extend_schema
from rest_framework.exceptions import NotFound
from rest_framework.permissions import AllowAny
from rest_framework.request import Request
from rest_framework.views import APIView

from annotator.api import described, files, imports, pictures, reports, work


@extend_schema(exclude=True)
class Nothing(APIView):
    """Any other address: a 404 that a program can read."""

    authentication_classes = []
    permission_classes = [AllowAny]
    throttle_classes = []

    def initial(self, request: Request, *args: object, **kwargs: object) -> None:
        """Before any method is looked for. Raises NotFound."""
        raise NotFound


_project = "v1/projects/<slug:slug>"
_import = f"{_project}/imports/<int:batch_id>"
_assignment = "v1/assignments/<uuid:assignment_id>"

urlpatterns: list[URLPattern] = [
    path("schema/", described.Schema.as_view(), name="api_schema"),
    path("docs/", described.Docs.as_view(url_name="api_schema"), name="api_docs"),
    path(f"{_project}/assignments/next", work.Next.as_view(), name="api_next"),
    path(f"{_project}/annotations", reports.Annotations.as_view(), name="api_annotations"),
    path(f"{_project}/quality", reports.Quality.as_view(), name="api_quality"),
    path(f"{_project}/imports", imports.Imports.as_view(), name="api_imports"),
    path(_import, imports.Import.as_view(), name="api_import"),
    path(f"{_import}/pause", imports.Pause.as_view(), name="api_import_pause"),
    path(f"{_import}/resume", imports.Resume.as_view(), name="api_import_resume"),
    path(f"{_import}/cancel", imports.Cancel.as_view(), name="api_import_cancel"),
    path(f"{_import}/rejected", imports.Rejected.as_view(), name="api_import_rejected"),
    path(f"{_project}/attachments", pictures.Pictures.as_view(), name="api_pictures"),
    path(f"{_project}/attachments/<str:sha256>", pictures.Picture.as_view(), name="api_picture"),
    path(f"{_project}/export", files.Export.as_view(), name="api_export"),
    path(f"{_project}/exports", files.Exports.as_view(), name="api_exports"),
    path(f"{_project}/exports/<int:run_id>", files.ExportRun.as_view(), name="api_export_run"),
    path(f"{_project}/exports/<int:run_id>/file", files.ExportFile.as_view(), name="api_export_file"),
    path(f"{_assignment}/draft", work.Draft.as_view(), name="api_draft"),
    path(f"{_assignment}/submit", work.Submit.as_view(), name="api_submit"),
    path(f"{_assignment}/skip", work.Skip.as_view(), name="api_skip"),
    re_path(r"", Nothing.as_view()),
]
