import { spawn } from 'node:child_process'
import { readUrl } from '../../policy/url.ts'

/** Shows an address in the person's browser. It is printed too: not every machine has a browser that it can open. */
export function showInBrowser(url: string): void {
  assertWebAddress(url)
  process.stderr.write(`Open this address in a browser on this machine, and agree:\n\n  ${url}\n\n`)
  openBrowser(url)
}

/** Opens an address in the browser of this machine, if it has one. No shell reads the address. */
export function openBrowser(url: string): void {
  assertWebAddress(url)
  const named = process.env['BROWSER']
  const usual = process.platform === 'darwin' ? 'open' : process.stderr.isTTY ? 'xdg-open' : undefined
  const program = named === undefined || named === '' ? usual : named
  if (program === undefined) return
  const child = spawn(program, [url], { stdio: 'ignore', detached: true })
  child.on('error', () => {})
  child.unref()
}

/** Other kinds of addresses start other programs. */
function assertWebAddress(text: string): void {
  const url = readUrl(text)
  if ('verdict' in url) throw new Error(`an address is not opened: ${text.slice(0, 200)}. ${url.why}`)
}
