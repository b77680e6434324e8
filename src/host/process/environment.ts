import { TOOLCHAIN_VARIABLES } from '../sandbox/toolchains.ts'

/** Variables that a command may inherit. All others stay here, keys and tokens above all. */
const INHERITED_VARIABLES = ['PATH', 'HOME', 'LANG', 'TMPDIR', 'USER', 'LOGNAME', 'SHELL', 'TZ', ...TOOLCHAIN_VARIABLES]

/** Makes programs print plainly, and fail instead of waiting for input. */
const FIXED_VARIABLES = { TERM: 'dumb', PAGER: 'cat', GIT_PAGER: 'cat', GIT_TERMINAL_PROMPT: '0' }

/** Makes programs give up at once where there is no network, instead of retrying for a minute. */
export const OFFLINE_ENVIRONMENT: Readonly<Record<string, string>> = {
  npm_config_fetch_retries: '0',
  YARN_HTTP_RETRY: '0',
  PIP_RETRIES: '0',
  UV_HTTP_RETRIES: '0',
  CARGO_NET_RETRY: '0',
  BUNDLE_RETRY: '0',
}

export function createCleanEnvironment(
  parentEnvironment: Readonly<Record<string, string | undefined>>,
  allowedNames: readonly string[] = [],
  extraVariables: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const inherited = Object.entries(parentEnvironment).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined &&
      (INHERITED_VARIABLES.includes(entry[0]) || entry[0].startsWith('LC_') || allowedNames.includes(entry[0])),
  )
  return { ...Object.fromEntries(inherited), ...FIXED_VARIABLES, ...extraVariables }
}
