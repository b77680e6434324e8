import type { FindPathRisk } from './harmless-command-spec.ts'

/** Allows `find` with folders, then tests and actions that only print. */
export function findFindCommandRisk(words: readonly string[], findPathRisk: FindPathRisk): string | undefined {
  const first = words.findIndex((word) => /^[-(!]/.test(word))
  const folders = first < 0 ? words : words.slice(0, first)
  const outside = folders.map(findPathRisk).find((risk) => risk !== undefined)
  if (outside !== undefined) return outside
  const tests = words.slice(folders.length)
  for (let at = 0; at < tests.length; at++) {
    const word = tests[at] ?? ''
    if (FIND_FLAGS.has(word)) continue
    if (!FIND_OPTIONS_WITH_VALUE.has(word) && !FIND_OPTIONS_WITH_PATH.has(word))
      return `“${word}” of find is not known to be harmless`
    const value = tests[++at]
    if (value === undefined) return `${word} has no value`
    const risk = FIND_OPTIONS_WITH_PATH.has(word) ? findPathRisk(value) : undefined
    if (risk !== undefined) return risk
  }
  return undefined
}

const FIND_FLAGS: ReadonlySet<string> = new Set(
  '( ) ! -not -a -and -o -or -print -print0 -ls -prune -quit -empty -depth -d -xdev -mount -daystart -true -false -readable -writable -executable -nouser -nogroup -noleaf -warn -nowarn'.split(
    ' ',
  ),
)
const FIND_OPTIONS_WITH_VALUE: ReadonlySet<string> = new Set(
  '-name -iname -path -ipath -wholename -iwholename -regex -iregex -regextype -type -xtype -maxdepth -mindepth -size -mtime -mmin -atime -amin -ctime -cmin -newermt -newerct -newerat -perm -user -group -uid -gid -links -inum -lname -ilname -fstype -printf'.split(
    ' ',
  ),
)
const FIND_OPTIONS_WITH_PATH: ReadonlySet<string> = new Set(['-newer', '-anewer', '-cnewer', '-samefile'])

/** Allows one test of a file or a text, or a comparison of two texts. */
export function findTestCommandRisk(words: readonly string[], findPathRisk: FindPathRisk): string | undefined {
  const [first = '', second = '', third, ...more] = words[0] === '!' ? words.slice(1) : words
  if (third === undefined && /^-[efdsrwxLhp]$/.test(first)) return findPathRisk(second)
  if (third === undefined && /^-[zn]$/.test(first)) return undefined
  if (more.length === 0 && third !== undefined && /^(?:=|==|!=)$/.test(second)) return undefined
  return 'this test is not known to be harmless'
}

export function findBracketCommandRisk(words: readonly string[], findPathRisk: FindPathRisk): string | undefined {
  return words.at(-1) === ']' ? findTestCommandRisk(words.slice(0, -1), findPathRisk) : 'its last word is not ]'
}
