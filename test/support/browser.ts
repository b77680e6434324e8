import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

/** Where Chromium is on this machine, if it is. */
export function findChromium(): string | undefined {
  const folders = (process.env['PATH'] ?? '').split(delimiter)
  const paths = ['chromium', 'chromium-browser', 'google-chrome'].flatMap((name) =>
    folders.map((folder) => join(folder, name)),
  )
  return paths.find((path) => existsSync(path))
}

/** The `skip` option of tests that need a browser. */
export function skipWithoutChromium(): false | string {
  return findChromium() === undefined ? 'chromium is not installed' : false
}

export function launchChromium(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('chromium is not installed')
  // As root, Chromium has no sandbox of its own; it only sees pages of these tests.
  const args = ['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--force-color-profile=srgb']
  return chromium.launch({ executablePath, args, timeout: 120_000 })
}

export interface WatchedPage {
  readonly page: Page
  /** Errors of scripts, breaches of the content security policy, dialogs, and requests to others than the server. */
  readonly complaints: readonly string[]
}

/** A page that notes whatever must not happen. */
export async function openPage(
  browser: Browser,
  url: string,
  options: { readonly width?: number; readonly height?: number; readonly theme?: 'dark' | 'light' } = {},
): Promise<WatchedPage> {
  const { width = 1440, height = 900, theme = 'light' } = options
  const context = await browser.newContext({ viewport: { width, height }, colorScheme: theme, acceptDownloads: true })
  const page = await context.newPage()
  page.setDefaultTimeout(60_000)
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(`error: ${error.message}`))
  page.on('console', (message) => {
    if (message.type() === 'error' && !/\b401\b/.test(message.text())) complaints.push(`console: ${message.text()}`)
  })
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('request', (request) => {
    const to = request.url()
    if (!to.startsWith(new URL(url).origin) && !to.startsWith('blob:')) complaints.push(`request: ${to}`)
  })
  await page.exposeFunction('complain', (text: string) => void complaints.push(text))
  await page.addInitScript(() => {
    const complain = (text: string): void =>
      (globalThis as unknown as { complain: (text: string) => void }).complain(text)
    document.addEventListener('securitypolicyviolation', (event) =>
      complain(`policy: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
    )
    Object.defineProperty(globalThis, 'pwned', {
      set() {
        complain('text of a model was executed')
      },
    })
  })
  await page.goto(url)
  return { page, complaints }
}
