import { domainToUnicode } from 'node:url'
import { lazy } from '../../model/lazy.ts'

/** Returns what is wrong with a host name that the URL parser accepts; undefined for an ordinary public name. */
export function findHostNameProblem(
  host: string,
): { readonly verdict: 'ask' | 'deny'; readonly why: string } | undefined {
  const name = host.replace(/\.$/, '')
  const labels = name.split('.')
  if (name.length > 253 || labels.some((label) => label === '' || label.length > 63)) {
    return { verdict: 'deny', why: 'the host name has a part that is empty or too long' }
  }
  if (!/^[a-z0-9_.-]+$/.test(name)) return { verdict: 'deny', why: 'the host name contains an invalid character' }
  if (labels.length === 1 || LOCAL_SUFFIXES.has(labels.at(-1) ?? '') || name.endsWith('.home.arpa')) {
    return { verdict: 'deny', why: `${name} is a name of this machine or of the local network` }
  }
  if (isLookalikeHost(name))
    return { verdict: 'ask', why: `the host name looks like another one; it is really ${name}` }
  return undefined
}

/** Top-level names of local networks. */
const LOCAL_SUFFIXES = new Set('localhost local localdomain internal intranet lan home corp private'.split(' '))

/** Does a name (in its xn-- form) use letters that can be mistaken for others? */
export function isLookalikeHost(name: string): boolean {
  if (!name.includes('xn--')) return false
  return domainToUnicode(name).split('.').some(isConfusableLabel)
}

/** A label must use one script; scripts that are used together in one language count as one. */
function isConfusableLabel(label: string): boolean {
  const letters = label.match(/\p{L}/gu) ?? []
  if (UNUSUAL_LATIN.test(label)) return true
  if (!ALLOWED_SCRIPT_SETS().some((system) => letters.every((char) => system.test(char)))) return true
  // A word of another alphabet whose letters all look Latin is meant to be read as Latin.
  return letters.length > 0 && letters.every((char) => LATIN_LOOKALIKES.has(char))
}

const ALLOWED_SCRIPT_SETS = lazy(() => [
  /\p{Script=Latin}/u,
  /[\p{Script=Latin}\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}ー]/u,
  /[\p{Script=Latin}\p{Script=Han}\p{Script=Hangul}]/u,
  /[\p{Script=Latin}\p{Script=Han}\p{Script=Bopomofo}]/u,
  /\p{Script=Cyrillic}/u,
  /\p{Script=Greek}/u,
  /[^\p{Script=Latin}\p{Script=Cyrillic}\p{Script=Greek}\p{Script=Armenian}\p{Script=Cherokee}]/u,
  /\p{Script=Armenian}/u,
])

/** Phonetic letters, which no language uses in host names. */
const UNUSUAL_LATIN = /[\u0250-\u02af\u1d00-\u1dbf\ua720-\ua7ff\uab30-\uab6f]/

const LATIN_LOOKALIKES = new Set('аеорсухіјѕһԁԛԝӏґвкмнтьαορνυικτε')
