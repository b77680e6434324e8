import { spawn } from 'node:child_process'
import { parseUrl } from '../../policy/url/check-url.ts'

/** Shows an address in the person's browser. It is printed too: not every machine has a browser that it can open. */
export function printAndOpenUrl(url: string): void {
  assertWebUrl(url)
  process.stderr.write(`Open this address in a browser on this machine, and agree:\n\n  ${url}\n\n`)
  openBrowser(url)
}

/** Opens an address in the browser of this machine, if it has one. No shell reads the address. */
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

/** Other kinds of addresses start other programs. */
function assertWebUrl(text: string): void {
  const url = parseUrl(text)
  if ('verdict' in url) throw new Error(`an address is not opened: ${text.slice(0, 200)}. ${url.why}`)
}
