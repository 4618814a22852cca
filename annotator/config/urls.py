"""Every address of the web app."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import URLPattern, URLResolver, path

from annotator.web import exports, health, home, queue, workbench

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("help/", home.help_page, name="help"),
    path("sign-in/", auth.LoginView.as_view(redirect_authenticated_user=True), name="login"),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("p/<slug:slug>/label/", workbench.page, name="label"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/submit", workbench.submit, name="label_submit"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/draft", workbench.draft, name="label_draft"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/skip", workbench.skip, name="label_skip"),
    path("p/<slug:slug>/queue/", queue.page, name="queue"),
    path("p/<slug:slug>/exports/", exports.page, name="exports"),
    path("p/<slug:slug>/exports/download", exports.download, name="export_download"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
