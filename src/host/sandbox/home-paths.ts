import { splitWords } from '../../model/text.ts'

/** What programs need of a home folder. Everything else in it is hidden. Git's settings contain no passwords. */
export const HOME_TOOLCHAIN_PATHS: readonly string[] = splitWords(`
  .asdf .bun/bin .cargo/bin .cargo/env .deno/bin .dotnet .fnm .ghcup .jenv .local/bin .local/lib .local/pipx
  .local/share/fnm .local/share/mise .local/share/pipx .local/share/pnpm .local/share/uv .local/state/nix .nix-profile
  .nvm .opam .pyenv .rbenv .rustup .rvm .sdkman .volta go/bin .gitconfig .config/git/config .config/git/ignore
  .config/git/attributes .editorconfig .tool-versions .agents/skills .claude/skills .gemini/skills .codex/skills
`)

export const HOME_CACHE_PATHS: readonly string[] = splitWords(`
  .bun/install/cache .cache/deno .cache/ms-playwright .cache/pip .cache/pnpm .cache/puppeteer .cache/pypoetry/cache
  .cache/uv .cache/yarn .cargo/git .cargo/registry .gem .gradle/caches .gradle/wrapper .ivy2/cache .julia
  .m2/repository .npm/_cacache .nuget/packages .pub-cache .yarn/berry/cache go/pkg/mod
`)

/** Keys and passwords in a home folder: hidden even if the home folder is the workspace. */
export const HOME_SECRET_PATHS: readonly string[] = splitWords(`
  .aws .azure .boto .cargo/credentials .cargo/credentials.toml .config/containers .config/dragoman .config/gcloud
  .config/gh .config/git/credentials .config/glab-cli .config/google-chrome .config/hub .config/op .config/rclone
  .docker .gem/credentials .git-credentials .gnupg .gradle/gradle.properties .kube .local/share/dragoman
  .local/share/keyrings .m2/settings.xml .m2/settings-security.xml .mozilla .my.cnf .netrc .npmrc .nuget/NuGet
  .password-store .pgpass .pypirc .s3cfg .ssh .terraform.d .vault-token .yarnrc.yml
`)

/** Secrets of the machine; mostly only root could read them anyway. */
export const MACHINE_SECRET_PATHS: readonly string[] = splitWords(`
  /etc/NetworkManager/system-connections /etc/dragoman /etc/gshadow /etc/gshadow- /etc/kubernetes /etc/letsencrypt
  /etc/shadow /etc/shadow- /etc/ssh/ssh_host_ecdsa_key /etc/ssh/ssh_host_ed25519_key /etc/ssh/ssh_host_rsa_key
  /etc/ssl/private /etc/sudoers /etc/sudoers.d /etc/wireguard /var/backups /var/lib/containerd /var/lib/docker
  /var/lib/kubelet /var/run/secrets /var/spool/cron
`)
