{{- define "gatehouse.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 63 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 63 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "gatehouse.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "gatehouse.labels" -}}
{{ include "gatehouse.selector" . }}
app.kubernetes.io/version: {{ .Values.image.tag | default .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "gatehouse.caddyfile" -}}
{{- if .Values.config.caddyfile }}{{ .Values.config.caddyfile }}{{ else -}}
{
	admin localhost:2019
	persist_config off
	auto_https off # the ingress has the certificates
	shutdown_delay {{ .Values.shutdownDelay }}s
	grace_period {{ .Values.gracePeriod }}s
	metrics
	servers {
		trusted_proxies static {{ join " " .Values.trustedProxies }}
		trusted_proxies_strict
	}

	gatehouse {
		issuer {{ .Values.issuer }}
		secret {env.GATEHOUSE_SECRET}
		store redis redis://:{env.REDIS_PASSWORD}@{{ .Values.redis }}/0
		limiter redis
		tokens {
			audience {{ .Values.api }}
		}
{{ .Values.config.gatehouse | trim | indent 4 }}
	}
}

# For Kubernetes and Prometheus only.
http://:9180 {
	metrics /metrics
	gatehouse_health
}

http://{{ trimPrefix "https://" .Values.issuer }}:8080 {
	oauth_server
}

http://{{ trimPrefix "https://" .Values.api }}:8080 {
	api_errors
{{ .Values.config.api | trim | indent 4 }}
}
{{- end }}
{{- end }}
