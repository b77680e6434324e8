import type { Web, WebRequest } from '../../host/host.ts'
import { isObject } from '../../model/json.ts'

/** Which service searches, where it is, and with which key. */
export interface SearchOptions {
  readonly service: 'brave' | 'tavily' | 'searxng'
  /** Where it is, if not where its maker runs it; SearXNG is always somebody's own. */
  readonly url?: string
  readonly key?: string
}

/** A page that a search found. */
export interface Found {
  readonly title: string
  readonly url: string
  readonly text: string
}

/** A service that searches the web. */
export interface SearchService {
  readonly host: string
  find(query: string, web: Web, signal: AbortSignal): Promise<readonly Found[] | { readonly problem: string }>
}

interface Speech {
  readonly home?: string
  request(base: string, query: string, key: string): Omit<WebRequest, 'trusted'>
  /** The list of results in an answer, and the key of their text. */
  readonly list: (answer: Record<string, unknown>) => unknown
  readonly text: string
}

const SPEECHES: Readonly<Record<SearchOptions['service'], Speech>> = {
  brave: {
    home: 'https://api.search.brave.com',
    request: (base, query, key) => ({
      url: `${base}/res/v1/web/search?${new URLSearchParams({ q: query, count: String(MOST) })}`,
      headers: { accept: 'application/json', 'x-subscription-token': key },
    }),
    list: (answer) => (isObject(answer['web']) ? answer['web']['results'] : undefined),
    text: 'description',
  },
  tavily: {
    home: 'https://api.tavily.com',
    request: (base, query, key) => ({
      url: `${base}/search`,
      headers: { accept: 'application/json', 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, max_results: MOST }),
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

const MOST = 10

/** The service that the options mean; or what they lack. */
export function searchService({ service, url, key = '' }: SearchOptions): SearchService | { readonly problem: string } {
  const speech = SPEECHES[service]
  const base = (url ?? speech.home ?? '').replace(/\/+$/, '')
  if (!URL.canParse(base)) return { problem: `The search service ${service} needs its url.` }
  if (speech.home !== undefined && key === '') return { problem: `The search service ${service} needs a key.` }
  return {
    host: new URL(base).hostname,
    async find(query, web, signal) {
      const page = await web.fetch({ ...speech.request(base, query, key), trusted: true, signal })
      if ('problem' in page) return page
      if (page.status !== 200) return { problem: `${service} answered with the status ${page.status}.` }
      const answer = parsed(page.text ?? '')
      if (!answer) return { problem: `${service} did not answer with JSON.` }
      const list = speech.list(answer)
      return Array.isArray(list)
        ? list
            .filter(isObject)
            .slice(0, MOST)
            .map((one) => found(one, speech.text))
        : []
    },
  }
}

function found(given: Record<string, unknown>, text: string): Found {
  return { title: plain(given['title']), url: plain(given['url']), text: plain(given[text]) }
}

/** Services mark the words that were found in HTML. */
function plain(given: unknown): string {
  return typeof given === 'string'
    ? given
        .replace(/<[^>]{1,200}>/g, '')
        .replace(/\s+/g, ' ')
        .trim()
    : ''
}

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
