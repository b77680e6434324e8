import { readdirSync } from 'node:fs'
import { readRegularFile } from '../../files/regular-file.ts'
import { statNoFollow } from './no-follow-files.ts'
import { tryOrUndefined } from '../../../model/try-or-undefined.ts'

/**
 * A command may create a repository where there is none. What `git init` and `git clone` create runs nothing and stays. A
 * hook, or a setting that may name a program, would run without a question when the user next uses git, so it is renamed.
 */
export const HARMLESS_REPOSITORY_PATH_TESTS: ReadonlyMap<string, (at: string, name: string) => boolean> = new Map([
  ['.git', (at, name) => statNoFollow(`${at}/${name}`)?.isDirectory() === true],
  ['.git/hooks', (at, name) => hasOnlySamples(`${at}/${name}`)],
  ['.git/config', (at, name) => hasOnlySafeSettings(`${at}/${name}`)],
])

export function isHarmlessRepository(at: string, name: string): boolean {
  const path = `${at}/${name}`
  const has = (one: string): boolean => statNoFollow(`${path}/${one}`) !== undefined
  if (!statNoFollow(path)?.isDirectory() || has('commondir') || has('config.worktree')) return false
  return (!has('hooks') || hasOnlySamples(`${path}/hooks`)) && (!has('config') || hasOnlySafeSettings(`${path}/config`))
}

/** To git a folder with these names is a repository, whatever it is called. */
export function isGitRepository(at: string): boolean {
  const has = (name: string): boolean => statNoFollow(`${at}/${name}`) !== undefined
  return has('HEAD') && (has('commondir') || (has('objects') && has('refs')))
}

function hasOnlySamples(path: string): boolean {
  return (
    tryOrUndefined(
      () => statNoFollow(path)?.isDirectory() === true && readdirSync(path).every((name) => name.endsWith('.sample')),
    ) ?? false
  )
}

/** Through a second hard link a later command could write the file. */
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
 * A line of settings that runs nothing, in any section. The value has no escapes and names no helper (`ext::`). The syntax
 * is common to `grep -E` and JavaScript, because the watchdog uses it too.
 */
export const SAFE_GIT_SETTING_PATTERN = [
  '^([ \t]*',
  '|[ \t]*[#;].*',
  `|[ \t]*\\[(${SAFE_SECTIONS})( "[^"\\\\]*")?\\][ \t]*`,
  `|[ \t]*(${SAFE_KEYS})[ \t]*(=([^:\\\\]|:[^:\\\\])*:?)?`,
  ')\r?$',
].join('')

const SAFE_GIT_SETTING = new RegExp(SAFE_GIT_SETTING_PATTERN, 'i')
