import { readdirSync } from 'node:fs'
import { readRegularFile } from '../../files/regular-file.ts'
import { statNoFollow } from './no-follow-files.ts'

/**
 * A command may make a repository where there is none. What `git init` and `git clone` make runs nothing and stays. A hook, or
 * a setting that may name a program, would run when the person next uses git, without a question: that is set aside.
 */
export const HARMLESS_IN_NEW_REPOSITORY: ReadonlyMap<string, (at: string, name: string) => boolean> = new Map([
  ['.git', (at, name) => statNoFollow(`${at}/${name}`)?.isDirectory() === true],
  ['.git/hooks', (at, name) => hasOnlySamples(`${at}/${name}`)],
  ['.git/config', (at, name) => hasOnlySafeSettings(`${at}/${name}`)],
])

/** Does what is called `.git` hold a repository that runs nothing? */
export function isHarmlessRepository(at: string, name: string): boolean {
  const path = `${at}/${name}`
  const has = (one: string): boolean => statNoFollow(`${path}/${one}`) !== undefined
  if (!statNoFollow(path)?.isDirectory() || has('commondir') || has('config.worktree')) return false
  return (!has('hooks') || hasOnlySamples(`${path}/hooks`)) && (!has('config') || hasOnlySafeSettings(`${path}/config`))
}

/** To git a folder is a repository if it has these names, whatever it is called. */
export function isGitRepository(at: string): boolean {
  const has = (name: string): boolean => statNoFollow(`${at}/${name}`) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

function hasOnlySamples(path: string): boolean {
  try {
    return statNoFollow(path)?.isDirectory() === true && readdirSync(path).every((name) => name.endsWith('.sample'))
  } catch {
    return false
  }
}

/** A second name of the file would let a later command write to it. */
function hasOnlySafeSettings(path: string): boolean {
  const stats = statNoFollow(path)
  if (!stats?.isFile() || stats.nlink > 1) return false
  const content = readRegularFile(path, { maxBytes: 64 * 1024 })
  if ('problem' in content || content.isCut) return false
  return content.bytes
    .toString('latin1')
    .split('\n')
    .every((line) => SAFE_GIT_SETTING.test(line))
}

const SAFE_SECTIONS = 'advice|branch|commit|core|extensions|init|pull|push|remote|tag|user'
const SAFE_KEYS =
  'autocrlf|autosetupremote|bare|default|defaultbranch|detachedhead|email|eol|fetch|ff|filemode|gpgsign|ignorecase|logallrefupdates|merge|name|objectformat|precomposeunicode|rebase|refstorage|remote|repositoryformatversion|symlinks|tagopt|url'

/**
 * A line of settings that runs nothing, whatever section it stands in. The value has no escapes, and names no helper (`ext::`).
 * In the part of the syntax that `grep -E` and JavaScript share: the watchdog judges by it too.
 */
export const SAFE_GIT_SETTING_PATTERN = [
  '^([ \t]*',
  '|[ \t]*[#;].*',
  `|[ \t]*\\[(${SAFE_SECTIONS})( "[^"\\\\]*")?\\][ \t]*`,
  `|[ \t]*(${SAFE_KEYS})[ \t]*(=([^:\\\\]|:[^:\\\\])*:?)?`,
  ')\r?$',
].join('')

const SAFE_GIT_SETTING = new RegExp(SAFE_GIT_SETTING_PATTERN, 'i')
