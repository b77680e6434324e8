import { readdirSync } from 'node:fs'
import { readOrdinaryFile } from '../ordinary-file.ts'
import { statsOf } from './no-follow.ts'

/**
 * A command may make a repository where there is none. What `git init` and `git clone` make runs nothing and stays. A hook, or
 * a setting that may name a program, would run when the person next uses git, without a question: that is set aside.
 */
export const HARMLESS_IN_NEW_REPOSITORY: ReadonlyMap<string, (at: string, name: string) => boolean> = new Map([
  ['.git', (at, name) => statsOf(`${at}/${name}`)?.isDirectory() === true],
  ['.git/hooks', (at, name) => hasOnlySamples(`${at}/${name}`)],
  ['.git/config', (at, name) => hasOnlyUsualSettings(`${at}/${name}`)],
])

/** Does what is called `.git` hold a repository that runs nothing? */
export function isHarmlessRepository(at: string, name: string): boolean {
  const path = `${at}/${name}`
  const has = (one: string): boolean => statsOf(`${path}/${one}`) !== undefined
  if (!statsOf(path)?.isDirectory() || has('commondir') || has('config.worktree')) return false
  return (
    (!has('hooks') || hasOnlySamples(`${path}/hooks`)) && (!has('config') || hasOnlyUsualSettings(`${path}/config`))
  )
}

/** To git a folder is a repository if it has these names, whatever it is called. */
export function isRepository(at: string): boolean {
  const has = (name: string): boolean => statsOf(`${at}/${name}`) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

function hasOnlySamples(path: string): boolean {
  try {
    return statsOf(path)?.isDirectory() === true && readdirSync(path).every((name) => name.endsWith('.sample'))
  } catch {
    return false
  }
}

/** A second name of the file would let a later command write to it. */
function hasOnlyUsualSettings(path: string): boolean {
  const stats = statsOf(path)
  if (!stats?.isFile() || stats.nlink > 1) return false
  const content = readOrdinaryFile(path, { maxBytes: 64 * 1024 })
  if ('problem' in content || content.isCut) return false
  return content.bytes
    .toString('latin1')
    .split('\n')
    .every((line) => USUAL.test(line))
}

const SECTIONS = 'advice|branch|commit|core|extensions|init|pull|push|remote|tag|user'
const KEYS =
  'autocrlf|autosetupremote|bare|default|defaultbranch|detachedhead|email|eol|fetch|ff|filemode|gpgsign|ignorecase|logallrefupdates|merge|name|objectformat|precomposeunicode|rebase|refstorage|remote|repositoryformatversion|symlinks|tagopt|url'

/**
 * A line of settings that runs nothing, whatever section it stands in. The value has no escapes, and names no helper (`ext::`).
 * In the part of the syntax that `grep -E` and JavaScript share: the watchdog judges by it too.
 */
export const USUAL_SETTING = [
  '^([ \t]*',
  '|[ \t]*[#;].*',
  `|[ \t]*\\[(${SECTIONS})( "[^"\\\\]*")?\\][ \t]*`,
  `|[ \t]*(${KEYS})[ \t]*(=([^:\\\\]|:[^:\\\\])*:?)?`,
  ')\r?$',
].join('')

const USUAL = new RegExp(USUAL_SETTING, 'i')
