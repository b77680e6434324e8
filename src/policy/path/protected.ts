import { PROTECTED_PATHS } from '../../model/protected.ts'

/**
 * Files that run something later, or that decide what may run: whoever writes them rules the next session. A command must
 * not write them, and a file tool only with a person's word, in every mode.
 */
export const PROTECTED: readonly string[] = patterns(false)

/** Files that a model reads as instructions. Writing them needs a person's word too. */
export const INSTRUCTIONS: readonly string[] = patterns(true)

function patterns(ofInstructions: boolean): string[] {
  const chosen = PROTECTED_PATHS.filter(({ isInstructions = false }) => isInstructions === ofInstructions)
  return [...new Set(chosen.map(({ path }) => path))]
}

/** Files that usually hold secrets: reading one puts them into the conversation. */
export const SECRETS: readonly string[] = [
  '.env',
  '.env.*',
  '.envrc',
  '*.pem',
  '*.key',
  '*.p12',
  '*.pfx',
  '*.jks',
  '*.keystore',
  '*.kdbx',
  '*.ppk',
  'id_rsa*',
  'id_dsa*',
  'id_ecdsa*',
  'id_ed25519*',
  '.ssh/**',
  '.gnupg/**',
  '.npmrc',
  '.netrc',
  '_netrc',
  '.pypirc',
  '.git-credentials',
  '.htpasswd',
  '.pgpass',
  '.my.cnf',
  '.vault-token',
  '.aws/**',
  '.azure/**',
  '.kube/config',
  '.docker/config.json',
  '.config/gcloud/**',
  '.config/gh/**',
  '.local/share/dragoman/keys.json',
  'application_default_credentials.json',
  'credentials.json',
  'service-account*.json',
  'secrets.json',
  'secrets.yml',
  'secrets.yaml',
]

/** Names that look like secrets, and hold none by custom. */
export const NO_SECRETS: readonly string[] = [
  '.env.example',
  '.env.sample',
  '.env.template',
  '.env.dist',
  '.env.schema',
  '*.pub',
]
