import { spawn } from 'node:child_process'
import { parseUrl } from '../../policy/url/check-url.ts'

/** Opens a URL in the browser, and prints it for machines without one. */
export function printAndOpenUrl(url: string): void {
  assertWebUrl(url)
  process.stderr.write(`Open this URL in a browser on this machine and approve the request:\n\n  ${url}\n\n`)
  openBrowser(url)
}

/** Without a shell: the URL is untrusted. */
export function openBrowser(url: string): void {
  assertWebUrl(url)
  const configured = process.env['BROWSER']
  const defaultProgram = process.platform === 'darwin' ? 'open' : process.stderr.isTTY ? 'xdg-open' : undefined
  const program = configured === undefined || configured === '' ? defaultProgram : configured
  if (program === undefined) return
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

/** Other kinds of URLs start other programs. */
function assertWebUrl(text: string): void {
  const url = parseUrl(text)
  if ('verdict' in url) throw new Error(`this URL is not opened: ${text.slice(0, 200)}. ${url.why}`)
}
