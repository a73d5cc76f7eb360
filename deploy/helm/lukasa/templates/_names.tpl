{{- define "lukasa.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 52 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 52 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "lukasa.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lukasa.labels" -}}
{{ include "lukasa.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "lukasa.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end -}}
{{- end -}}

{{- define "lukasa.fence" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "lukasa.podSecurity" -}}
runAsNonRoot: true
runAsUser: 65532
runAsGroup: 65532
fsGroup: 65532
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "lukasa.journalClaim" -}}
{{- .Values.journal.existingClaim | default (printf "%s-journal" (include "lukasa.name" .)) -}}
{{- end -}}

{{/* Whether several nodes can mount the journal's volume. */}}
{{- define "lukasa.journalIsShared" -}}
{{- if has "ReadWriteMany" .Values.journal.accessModes -}}true{{- end -}}
{{- end -}}

{{/* Labels of the migration's pod. Not those of the server, or the Service would send it requests. */}}
{{- define "lukasa.migrationSelector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}-migration
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "lukasa.egressToDatabase" -}}
- ports:
    - { protocol: UDP, port: 53 }
    - { protocol: TCP, port: 53 }
- ports:
    - { protocol: TCP, port: {{ .Values.networkPolicy.databasePort }} }
{{- end -}}
