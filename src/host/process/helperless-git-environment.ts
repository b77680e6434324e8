import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SECRET_FILE_GIT_ATTRIBUTES } from '../../model/secret-files.ts'

/** Settings that keep git from starting the programs that the settings of a repository name. */
const GIT_SETTINGS: Readonly<Record<string, string>> = {
  'core.fsmonitor': 'false',
  'core.hooksPath': '/dev/null',
  'core.pager': 'cat',
  'core.editor': 'false',
  'core.sshCommand': 'false',
  'core.askPass': 'false',
  'credential.helper': '',
  'gpg.program': 'false',
  'gpg.ssh.program': 'false',
  'gpg.x509.program': 'false',
  'log.showSignature': 'false',
  'diff.submodule': 'short',
  'status.submoduleSummary': 'false',
  'safe.bareRepository': 'explicit',
}

/**
 * Variables that turn off git's helpers: monitors, hooks, pagers, signatures, transports, and bare repositories. Those that
 * cannot be turned off by name (`diff.<driver>`, `filter.<driver>`) must have been checked by the policy. Our attributes
 * file keeps git from showing secrets in old commits, which the policy cannot see.
 */
export function createHelperlessGitEnvironment(scratch: string): Readonly<Record<string, string>> {
  const attributes = join(scratch, 'git-attributes')
  if (!existsSync(attributes)) {
    mkdirSync(scratch, { recursive: true, mode: 0o700 })
    writeFileSync(attributes, SECRET_FILE_GIT_ATTRIBUTES, { flag: 'wx', mode: 0o600 })
  }
  const settings = Object.entries({ ...GIT_SETTINGS, 'core.attributesFile': attributes })
  const numbered = settings.flatMap(([key, value], at) => [
    [`GIT_CONFIG_KEY_${at}`, key],
    [`GIT_CONFIG_VALUE_${at}`, value],
  ])
  return {
    ...Object.fromEntries(numbered),
    GIT_CONFIG_COUNT: String(settings.length),
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
  }
}
