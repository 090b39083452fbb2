{{- define "webdata.labels" -}}
app.kubernetes.io/name: webdata
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "webdata.environment" -}}
{{- with .Values.secret }}
envFrom:
  - secretRef:
      name: {{ . }}
{{- end }}
env:
  {{- if .Values.workers }}
  - name: WEBDATA_WORKER
    value: "off"
  {{- end }}
  {{- with .Values.ingress.host }}
  - name: WEBDATA_PUBLIC_URL
    value: https://{{ . }}
  {{- end }}
  {{- range $name, $value := .Values.settings }}
  - name: {{ $name }}
    value: {{ $value | quote }}
  {{- end }}
{{- end }}

{{- define "webdata.container" -}}
image: {{ .Values.image }}
imagePullPolicy: {{ .Values.pullPolicy }}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities:
    drop: [ALL]
resources:
  {{- toYaml .Values.resources | nindent 2 }}
volumeMounts:
  - name: data
    mountPath: /data
  - name: tmp
    mountPath: /tmp
{{- end }}

{{- define "webdata.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false # they would add variables that begin with WEBDATA_
terminationGracePeriodSeconds: 60
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  fsGroup: 10001
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile:
    type: RuntimeDefault
{{- end }}
