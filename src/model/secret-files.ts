import { splitWords } from './text.ts'

/** Files that usually contain secrets: reading one puts them into the conversation. */
export const SECRET_FILE_PATTERNS: readonly string[] = splitWords(`
  .env .env.* *.env .envs/** .envrc .dev.vars *.pem *.key *.p12 *.pfx *.jks *.keystore *.kdbx *.ppk id_rsa*
  id_dsa* id_ecdsa* id_ed25519* .ssh/** .gnupg/** .npmrc .netrc _netrc .pypirc .git-credentials .htpasswd
  .pgpass .my.cnf .vault-token .aws/** .azure/** .cargo/credentials .cargo/credentials.toml .gem/credentials
  .dockercfg .s3cfg *.tfstate *.tfstate.backup .kube/config .docker/config.json .config/gcloud/**
  .config/gh/** .local/share/dragoman/keys.json application_default_credentials.json credentials.json
  service-account*.json secrets.json secrets.yml secrets.yaml secrets.toml
`)

/** Names that match a pattern above, but by convention contain no secrets. */
export const NON_SECRET_FILE_PATTERNS: readonly string[] = splitWords(`
  .env.example .env.sample .env.template .env.dist .env.schema example.env sample.env template.env *.pub
`)

/** Git attributes that hide the contents of these files in diffs, also of files that are only in the history. */
export const SECRET_FILE_GIT_ATTRIBUTES: string = [
  ...SECRET_FILE_PATTERNS.map((pattern) => `${anywhere(pattern)} -diff\n`),
  ...NON_SECRET_FILE_PATTERNS.map((pattern) => `${anywhere(pattern)} !diff\n`),
].join('')

function anywhere(pattern: string): string {
  return pattern.includes('/') ? `**/${pattern}` : pattern
}
