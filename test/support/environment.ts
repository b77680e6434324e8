/**
 * Variables for every command that a test starts. They keep the settings and the model servers of the machine away from
 * it; a home folder of the test's own does the rest.
 */
export const ISOLATION: Readonly<Record<string, string>> = { DRAGOMAN_LOCAL_SERVERS: 'off', GIT_CONFIG_NOSYSTEM: '1' }
