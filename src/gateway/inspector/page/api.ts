import type { InspectedExchange } from '../inspected-exchange.ts'

/** What the server says instead of an answer. */
export class ApiError extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

const TOKEN_KEY = 'dragoman-token'

/** The token is in the fragment, which no server sees; from there on it is kept for this tab only. */
export function takeToken(): string {
  const given = decodeURIComponent(location.hash.slice(1)).replace(/^token=/, '')
  if (given !== '') {
    sessionStorage.setItem(TOKEN_KEY, given)
    history.replaceState(null, '', location.pathname)
  }
  return getToken()
}

export function setToken(token: string): void {
  sessionStorage.setItem(TOKEN_KEY, token)
}

function getToken(): string {
  return sessionStorage.getItem(TOKEN_KEY) ?? ''
}

export async function fetchJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const response = await request(path, signal)
  return (await response.json()) as T
}

async function request(path: string, signal?: AbortSignal): Promise<Response> {
  const headers = { 'x-dragoman-token': getToken() }
  const response = await fetch(`/inspector/api/${path}`, { headers, cache: 'no-store', ...(signal && { signal }) })
  if (response.ok) return response
  const body = (await response.json().catch(() => ({}))) as { error?: string }
  throw new ApiError(response.status, body.error ?? `The server answered with the status ${response.status}.`)
}

/** Follows the changes until the connection ends. An event source could not send the token in a header. */
export async function followExchanges(
  onOpen: () => void,
  onExchange: (exchange: InspectedExchange) => void,
): Promise<void> {
  const { body } = await request('events')
  if (!body) return
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return
    text += value
    const events = text.split('\n\n')
    text = events.pop() ?? ''
    for (const event of events) {
      const data = /^data: (.*)$/m.exec(event)?.[1]
      if (data === undefined) onOpen()
      else onExchange(JSON.parse(data) as InspectedExchange)
    }
  }
}
