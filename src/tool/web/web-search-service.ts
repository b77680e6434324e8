import type { WebClient, WebRequest } from '../../host/host.ts'
import { filterObjects, isObject, stringOrEmpty, tryParseJson } from '../../model/json.ts'
import type { ReadablePage } from './read-page.ts'

export interface WebSearchOptions {
  readonly service: 'brave' | 'tavily' | 'searxng'
  /** If not the service's own URL; SearXNG is always self-hosted. */
  readonly url?: string
  readonly key?: string
}

export interface WebSearchService {
  readonly host: string
  find(
    query: string,
    web: WebClient,
    signal: AbortSignal,
  ): Promise<readonly ReadablePage[] | { readonly problem: string }>
}

interface SearchApi {
  readonly defaultUrl?: string
  request(base: string, query: string, key: string): Omit<WebRequest, 'trusted'>
  /** The list of results in a response; `text` is the key of their text. */
  readonly list: (answer: Record<string, unknown>) => unknown
  readonly text: string
}

const SEARCH_APIS: Readonly<Record<WebSearchOptions['service'], SearchApi>> = {
  brave: {
    defaultUrl: 'https://api.search.brave.com',
    request: (base, query, key) => ({
      url: `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(MAX_WEB_RESULTS) })}`,
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    list: (answer) => (isObject(answer['web']) ? answer['web']['results'] : undefined),
    text: 'description',
  },
  tavily: {
    defaultUrl: 'https://api.tavily.com',
    request: (base, query, key) => ({
      url: `${base}/search`,
      headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: MAX_WEB_RESULTS }),
    }),
    list: (answer) => answer['results'],
    text: 'content',
  },
  searxng: {
    request: (base, query, key) => ({
      url: `${base}/search?${new URLSearchParams({ q: query, format: 'json' })}`,
      headers: { accept: 'application/json', ...(key !== '' && { authorization: `Bearer ${key}` }) },
    }),
    list: (answer) => answer['results'],
    text: 'content',
  },
}

const MAX_WEB_RESULTS = 10

export function createWebSearchService(options: WebSearchOptions): WebSearchService | { readonly problem: string } {
  const { service, url, key = '' } = options
  const api = SEARCH_APIS[service]
  const base = (url ?? api.defaultUrl ?? '').replace(/\/+$/, '')
  if (!URL.canParse(base)) return { problem: `The search service ${service} needs a url.` }
  if (api.defaultUrl !== undefined && key === '') return { problem: `The search service ${service} needs a key.` }
  return {
    host: new URL(base).hostname,
    async find(query, web, signal) {
      const page = await web.fetch({ ...api.request(base, query, key), trusted: true, signal })
      if ('problem' in page) return page
      if (page.status !== 200) return { problem: `${service} answered with status ${page.status}.` }
      const answer = tryParseJson(page.text ?? '')
      if (!isObject(answer)) return { problem: `${service} did not answer with JSON.` }
      const found = filterObjects(api.list(answer)).slice(0, MAX_WEB_RESULTS)
      const read = (one: Record<string, unknown>, field: string) => stripHtml(stringOrEmpty(one[field]))
      return found.map((one) => ({ title: read(one, 'title'), url: read(one, 'url'), text: read(one, api.text) }))
    },
  }
}

/** Services mark matches with HTML. */
function stripHtml(text: string): string {
  return text
    .replace(/<[^>]{1,200}>/g, '')
    .replace(/\s+/g, ' ')
    .trim()
}
