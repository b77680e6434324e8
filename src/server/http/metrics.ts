/** Counters for Prometheus. They have no names of tenants or sessions. */
export interface Metrics {
  countRequest(operation: string, status: number, seconds: number): void
  countRun(reason: string, seconds: number): void
  readonly openStreams: { add(count: number): void }
  format(): string
}

export function createMetrics(): Metrics {
  const requests = new Map<string, number>()
  const requestSeconds = new Map<string, number>()
  const runs = new Map<string, number>()
  let runSeconds = 0
  let openStreams = 0
  const add = (to: Map<string, number>, key: string, count = 1): void => void to.set(key, (to.get(key) ?? 0) + count)
  return {
    countRequest(operation, status, seconds) {
      add(requests, `operation="${operation}",status="${status}"`)
      add(requestSeconds, `operation="${operation}"`, seconds)
    },
    countRun(reason, seconds) {
      add(runs, `reason="${reason}"`)
      runSeconds += seconds
    },
    openStreams: { add: (count) => void (openStreams += count) },
    format() {
      const { rss } = process.memoryUsage()
      return [
        ...formatMetric('dragoman_http_requests_total', 'counter', 'Requests by operation and status.', requests),
        ...formatMetric('dragoman_http_request_seconds_total', 'counter', 'Time of requests.', requestSeconds),
        ...formatMetric('dragoman_runs_total', 'counter', 'Runs by the reason of their end.', runs),
        ...formatMetric('dragoman_run_seconds_total', 'counter', 'Time of runs.', new Map([['', runSeconds]])),
        ...formatMetric('dragoman_event_streams', 'gauge', 'Open event streams.', new Map([['', openStreams]])),
        ...formatMetric('process_resident_memory_bytes', 'gauge', 'Memory of the process.', new Map([['', rss]])),
        '',
      ].join('\n')
    },
  }
}

function formatMetric(name: string, type: string, help: string, values: ReadonlyMap<string, number>): string[] {
  const lines = [...values].map(([labels, value]) => `${name}${labels === '' ? '' : `{${labels}}`} ${value}`)
  return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines]
}
