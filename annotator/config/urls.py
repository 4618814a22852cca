"""Every address of the web app."""

from django.contrib import admin
from django.contrib.auth import views as auth
from django.urls import URLPattern, URLResolver, path
from django.views.decorators.cache import cache_control
from django.views.i18n import JavaScriptCatalog

from annotator.web import (
    beside,
    design,
    exports,
    health,
    home,
    practice,
    quality,
    queue,
    settings,
    sign_in,
    workbench,
)

# The catalogue of what the scripts say. One language a server, so every cache may keep it.
words = cache_control(public=True, max_age=3600)(JavaScriptCatalog.as_view(packages=["annotator"]))

urlpatterns: list[URLPattern | URLResolver] = [
    path("", home.home, name="home"),
    path("help/", home.help_page, name="help"),
    path("sign-in/", sign_in.SignIn.as_view(), name="login"),
    path("sign-out/", auth.LogoutView.as_view(), name="logout"),
    path("p/<slug:slug>/label/", workbench.page, name="label"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/submit", workbench.submit, name="label_submit"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/draft", workbench.draft, name="label_draft"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/skip", workbench.skip, name="label_skip"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/ahead", workbench.ahead, name="label_ahead"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/aid/<slug:name>", beside.aid, name="label_aid"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/ask", beside.ask, name="label_ask"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/reopen", beside.reopen, name="reopen"),
    path("p/<slug:slug>/label/<uuid:assignment_id>/leave", beside.leave, name="leave_reopened"),
    path("p/<slug:slug>/mine/", beside.mine, name="mine"),
    path("p/<slug:slug>/practice/", practice.page, name="practice"),
    path("p/<slug:slug>/practice/<uuid:assignment_id>/submit", practice.submit, name="practice_submit"),
    path("p/<slug:slug>/settings/", settings.page, name="settings"),
    path("p/<slug:slug>/questions/", settings.question_list, name="questions"),
    path("p/<slug:slug>/questions/<int:question_id>/answer", settings.answer, name="answer"),
    path("preferences", beside.save_preferences, name="preferences"),
    path("p/<slug:slug>/queue/", queue.page, name="queue"),
    path("p/<slug:slug>/quality/", quality.page, name="quality"),
    path("p/<slug:slug>/quality/<slug:name>.csv", quality.table, name="quality_table"),
    path("p/<slug:slug>/quality/people/<int:member_id>", quality.override, name="quality_override"),
    path("p/<slug:slug>/quality/alerts/<int:alert_id>/close", quality.close_alert, name="close_alert"),
    path("p/<slug:slug>/exports/", exports.page, name="exports"),
    path("p/<slug:slug>/exports/download", exports.download, name="export_download"),
    path("p/<slug:slug>/exports/hours", exports.hours, name="hours"),
    path("design/", design.page, name="design"),
    path("words.js", words, name="words"),
    path("admin/", admin.site.urls),
    path("healthz", health.healthz, name="healthz"),
    path("readyz", health.readyz, name="readyz"),
]
