import { stripGitGlobalOptions } from './git-commands.ts'
import { createCommandList } from './command-list.ts'

/** Programs that use the network, or do so with these words. Options may be at any position. */
const getNetworkCommands = createCommandList(`
  curl, wget, http, https, aria2c, ssh, scp, sftp, rsync, ping, dig, nslookup, host, nc, telnet, ftp, gh, glab, aws, gcloud, az
  npm install, npm i, npm ci, npm add, npm update, npm up, npm outdated, npm audit, npm view, npm publish, npm search, npm login
  npm exec, npm init, npm create, npx, pnpm install, pnpm i, pnpm add, pnpm update, pnpm dlx, pnpm create
  yarn install, yarn add, yarn up, yarn upgrade, yarn dlx, yarn create, bun install, bun i, bun add, bun update, bunx
  deno install, deno add, deno cache
  pip install, pip download, pip3 install, pip3 download, python -m pip install, python3 -m pip install, pipx install, pipx run
  uv sync, uv add, uv lock, uv pip install, uv tool install, uvx, poetry install, poetry add, poetry update, poetry lock
  pdm install, pdm add, conda install, conda create, conda update, mamba install, mamba create
  cargo fetch, cargo add, cargo install, cargo update, cargo search, cargo publish, rustup update, rustup install, rustup toolchain
  go get, go install, go mod download, go mod tidy
  git clone, git fetch, git pull, git push, git ls-remote, git submodule update, git remote update, git lfs pull, git lfs fetch
  bundle install, bundle update, gem install, gem update, composer install, composer update, composer require
  mix deps.get, dotnet restore, dotnet add, nuget install, swift package resolve, pod install, flutter pub get, dart pub get
  apt install, apt update, apt upgrade, apt-get install, apt-get update, apt-get upgrade, apk add, apk update, dnf install, yum install
  pacman -S, zypper install, brew install, brew update, brew upgrade, nix-shell, nix build, nix develop
  docker pull, docker push, docker build, docker login, docker run, docker compose pull, docker compose up, docker compose build
  podman pull, podman push, kubectl, helm install, helm upgrade, helm repo, terraform init, terraform apply, terraform plan
`)

/**
 * Is a command known to need the network? This is a hint for the approval prompt, not a security check: other commands
 * may use the network too.
 */
export function needsNetwork(words: readonly string[]): boolean {
  const plain = stripGitGlobalOptions(words).filter((word, at) => at === 0 || !word.startsWith('-'))
  // Without arguments, `yarn` installs.
  if (plain.length === 1 && plain[0] === 'yarn') return true
  return getNetworkCommands().some((one) => {
    const wanted = one.filter((word) => !word.startsWith('-'))
    return (
      wanted.every((word, at) => plain[at] === word) &&
      one.every((word) => !word.startsWith('-') || words.includes(word))
    )
  })
}
