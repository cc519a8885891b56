{{- /* What both Deployments have in common. Takes the name, the account, the values of the operator
and all values; the parts that differ are lists: args, env, ports, and for some volumes, mounts and the group that
owns them. */ -}}
{{- define "olm.operator" -}}
{{- $secure := .all.certManager.enabled }}
{{- $port := int (ternary .values.service.internalPortHttps .values.service.internalPort $secure) }}
{{- $usual := ternary 8443 8080 $secure }}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ .name }}
  namespace: {{ .all.namespace }}
  labels:
    app: {{ .name }}
spec:
  replicas: {{ .values.replicaCount }}
  # Two that do not elect a leader would do everything twice.
  strategy:
    type: {{ gt (int .values.replicaCount) 1 | ternary "RollingUpdate" "Recreate" }}
  selector:
    matchLabels:
      app: {{ .name }}
  template:
    metadata:
      labels:
        app: {{ .name }}
    spec:
      serviceAccountName: {{ .account }}
      {{- with .values.nodeSelector }}
      nodeSelector: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- with .values.tolerations }}
      tolerations: {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- if gt (int .values.replicaCount) 1 }}
      # Not on the same node, where there are several.
      affinity:
        podAntiAffinity:
          preferredDuringSchedulingIgnoredDuringExecution:
            - weight: 100
              podAffinityTerm:
                topologyKey: kubernetes.io/hostname
                labelSelector:
                  matchLabels:
                    app: {{ .name }}
      {{- end }}
      securityContext:
        runAsNonRoot: true
        {{- with .group }}
        fsGroup: {{ . }}
        {{- end }}
        seccompProfile:
          type: RuntimeDefault
      containers:
        - name: {{ .name }}
          image: {{ .values.image.ref }}
          imagePullPolicy: {{ .values.image.pullPolicy }}
          command:
            - {{ .command }}
          args:
            - --namespace
            - $(OPERATOR_NAMESPACE)
            {{- range .args }}
            - {{ . | quote }}
            {{- end }}
            {{- if ne $port $usual }}
            - --admin-address=0.0.0.0:{{ $port }}
            {{- end }}
            {{- if $secure }}
            - --tls-cert=/srv-cert/tls.crt
            - --tls-key=/srv-cert/tls.key
            {{- end }}
            {{- if .all.debug }}
            - --debug
            {{- end }}
            {{- range .values.args }}
            - {{ . | quote }}
            {{- end }}
            {{- if gt (int .values.replicaCount) 1 }}
            - --leader-elect
            {{- end }}
          env:
            - name: OPERATOR_NAMESPACE
              valueFrom:
                fieldRef:
                  fieldPath: metadata.namespace
            {{- with .env }}{{ toYaml . | nindent 12 }}{{ end }}
          ports:
            - name: metrics
              containerPort: {{ $port }}
            {{- with .ports }}{{ toYaml . | nindent 12 }}{{ end }}
          livenessProbe:
            httpGet:
              path: /healthz
              port: metrics
              {{- if $secure }}
              scheme: HTTPS
              {{- end }}
          readinessProbe:
            httpGet:
              path: /readyz
              port: metrics
              {{- if $secure }}
              scheme: HTTPS
              {{- end }}
          {{- with .values.resources }}
          resources: {{- toYaml . | nindent 12 }}
          {{- end }}
          securityContext:
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities:
              drop:
                - ALL
          terminationMessagePolicy: FallbackToLogsOnError
          {{- if or $secure .mounts }}
          volumeMounts:
            {{- if $secure }}
            - name: srv-cert
              mountPath: /srv-cert
              readOnly: true
            {{- end }}
            {{- with .mounts }}{{ toYaml . | nindent 12 }}{{ end }}
      volumes:
        {{- if $secure }}
        - name: srv-cert
          secret:
            secretName: {{ .all.certManager.certificate.secretName }}
        {{- end }}
        {{- with .volumes }}{{ toYaml . | nindent 8 }}{{ end }}
          {{- end }}
---
apiVersion: v1
kind: Service
metadata:
  name: {{ .values.service.name }}
  namespace: {{ .all.namespace }}
  labels:
    app: {{ .name }}
spec:
  selector:
    app: {{ .name }}
  ports:
    - name: metrics
      port: {{ $port }}
      targetPort: metrics
{{- if gt (int .values.replicaCount) 1 }}
---
# A drained node leaves one Pod running.
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata:
  name: {{ .name }}
  namespace: {{ .all.namespace }}
spec:
  minAvailable: 1
  selector:
    matchLabels:
      app: {{ .name }}
{{- end }}
{{- end }}
