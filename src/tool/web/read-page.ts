import type { WebClient } from '../../host/host.ts'

export interface ReadablePage {
  readonly url: string
  readonly title: string
  readonly text: string
}

export async function readWebPage(
  web: WebClient,
  url: string,
  signal: AbortSignal,
): Promise<ReadablePage | { readonly problem: string }> {
  const page = await web.fetch({ url, signal })
  if ('problem' in page) return page
  if (page.status >= 400) return { problem: `The server answered with status ${page.status}.` }
  if (page.text === undefined) return { problem: `The content is not text (${page.type}, ${page.size} bytes).` }
  const html = /html/.test(page.type) || /^\s*<(?:!doctype\s+html|html)\b/i.test(page.text)
  const text = html ? await toMarkdown(page.text) : page.text
  const title = html ? readTitle(page.text) : ''
  return { url: page.url, title, text: page.cut ? `${text}\n\n(The page was truncated.)` : text }
}

/** Larger pages take more time than they are worth. */
const MAX_HTML_CHARS = 1_000_000

async function toMarkdown(html: string): Promise<string> {
  const { htmlToMarkdown } = await import('./html-to-markdown.ts')
  return htmlToMarkdown(html.slice(0, MAX_HTML_CHARS))
}

function readTitle(html: string): string {
  const title = /<title[^>]*>([^<]{0,500})/i.exec(html.slice(0, 50_000))?.[1] ?? ''
  return title
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .trim()
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" }

/** Distributes the budget: short texts stay whole, and the rest goes to the long ones. */
export function truncateToBudget(pages: readonly ReadablePage[], budget: number): ReadablePage[] {
  const lengths = new Map<ReadablePage, number>()
  let remaining = budget
  for (const [at, page] of [...pages].sort((one, other) => one.text.length - other.text.length).entries()) {
    const share = Math.min(page.text.length, Math.floor(remaining / (pages.length - at)))
    lengths.set(page, share)
    remaining -= share
  }
  return pages.map((page) => {
    const share = lengths.get(page) ?? 0
    return share >= page.text.length ? page : { ...page, text: `${page.text.slice(0, share)}\n(… cut here)` }
  })
}
