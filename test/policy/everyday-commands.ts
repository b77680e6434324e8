/** A command that people and models type every day: does it change nothing, or may it change something or run code of the project? */
export interface EverydayCommand {
  readonly ecosystem: Ecosystem
  readonly command: string
  readonly changes: boolean
}

export type Ecosystem = 'shell' | 'git' | 'node' | 'python' | 'rust' | 'go' | 'java' | 'ci'

/** Per ecosystem: what changes nothing, and what changes something, reaches the network or runs code of the project. */
const TABLE: Readonly<Record<Ecosystem, { readonly looks: string; readonly changes: string }>> = {
  shell: {
    looks: `
      ls
      ls -la
      ls -lah src
      ls src/*.ts
      ls -R src
      pwd
      cat README.md
      cat src/main.ts src/util.ts
      cat package.json | head -20
      head -n 40 src/main.ts
      tail -20 README.md
      sed -n 1,3p README.md
      sed -n '10,20p' src/main.ts
      sed 's/foo/bar/g' src/main.ts | head
      find . -name "*.ts" | head
      find . -type f -name '*.ts' -not -path './node_modules/*'
      find src -maxdepth 2 -type d
      find . \\( -name '*.ts' -o -name '*.js' \\) -mtime -1
      grep -rn foo src | head
      grep -n "export" src/main.ts
      grep -rn --include='*.ts' foo src
      grep -rl TODO src | wc -l
      rg foo
      rg -n "function \\w+" src
      rg --files | head -50
      tree -L 2
      bat README.md
      bat -n --line-range=1:20 src/main.ts
      eza -la --tree --level=2 src
      tail -f README.md
      tokei src
      tree -a -I node_modules
      wc -l src/main.ts
      wc -l src/*.ts
      sort README.md | uniq -c | sort -rn | head
      cut -d: -f1 README.md
      awk '{print $1}' README.md
      awk -F: '{ print $1, $2 }' README.md | sort -u
      jq '.scripts' package.json
      jq -r '.dependencies | keys[]' package.json
      diff README.md docs/guide.md
      diff -u src/main.ts src/util.ts
      du -sh src
      df -h
      stat README.md
      file README.md
      which node
      command -v cargo
      type git
      echo hello
      printf '%s\\n' a b c
      date +%Y-%m-%d
      uname -a
      whoami
      nproc
      test -f package.json && echo yes
      [ -d src ] && ls src
      cd src && ls
      sha256sum README.md
      basename src/main.ts .ts
      realpath src
      cat docs/guide.md | tr a-z A-Z
      ps aux
      find src -name '*.ts' | xargs wc -l`,
    changes: `
      rm notes.txt
      mv README.md README.old
      cp README.md copy.md
      mkdir -p build/out
      touch new.txt
      echo hi > out.txt
      sed -i s/foo/bar/ src/main.ts
      chmod +x run.sh
      find . -name '*.tmp' -delete
      find . -name '*.ts' -exec touch {} +
      curl -s https://example.com
      tar czf out.tgz src
      ./run.sh
      bash -c ls
      tee out.txt < README.md
      awk '{print > "out"}' README.md
      cat .env`,
  },
  git: {
    looks: `
      git status
      git status -sb
      git diff
      git diff --stat
      git diff --cached
      git diff HEAD~1 -- src/main.ts
      git diff main...HEAD --name-only
      git log
      git log --oneline -10
      git log --oneline --graph --all
      git log -p -1
      git log --since="2 weeks ago" --author=me
      git log --format='%h %an %s' -n 5
      git log --stat -3
      git log -- src/main.ts
      git show HEAD
      git show HEAD:src/main.ts
      git show --stat
      git blame src/main.ts
      git blame -L 1,10 src/main.ts
      git branch
      git branch -a
      git branch --show-current
      git branch -vv
      git tag
      git tag -l 'v*'
      git remote -v
      git stash list
      git ls-files
      git ls-files | wc -l
      git ls-tree -r HEAD --name-only
      git rev-parse HEAD
      git rev-parse --abbrev-ref HEAD
      git rev-list --count HEAD
      git describe --tags --always
      git shortlog -sn
      git shortlog -sn HEAD
      git grep -n foo
      git reflog -n 5
      git merge-base HEAD HEAD~1
      git config --get user.name
      git worktree list
      git --no-pager log -3
      git --version`,
    changes: `
      git add -A
      git commit -m "x"
      git push
      git pull
      git fetch
      git checkout -b feature
      git switch main
      git reset --hard
      git stash
      git merge main
      git rebase main
      git tag v2
      git branch new
      git clean -fd
      git restore src/main.ts
      git clone https://example.com/x.git
      git -c core.pager=x log
      git config user.name x
      git rm README.md`,
  },
  node: {
    looks: `
      node --version
      node -v
      npm --version
      npm -v
      npx --version
      yarn --version
      pnpm --version
      tsc --version
      npm ls
      npm ls --depth=0
      npm ls react
      npm run
      npm pkg get version
      npm root -g
      npm config get registry
      cat package.json
      jq .version package.json
      ls node_modules
      ls node_modules/.bin
      grep -n '"test"' package.json
      cat tsconfig.json`,
    changes: `
      npm install
      npm ci
      npm test
      npm run build
      npx tsc --noEmit
      npx eslint .
      node script.js
      node -e 'console.log(1)'
      npm view react version
      npm outdated
      npm audit
      yarn install
      pnpm add left-pad
      npm version patch`,
  },
  python: {
    looks: `
      python --version
      python3 --version
      python3 -V
      pip --version
      pip list
      pip list --format=freeze
      pip freeze
      pip show requests
      pip3 list | grep -i django
      uv --version
      ruff --version
      black --version
      cat requirements.txt
      cat pyproject.toml
      grep -n "^def " app/main.py
      grep -rn "import os" app
      wc -l app/*.py
      find app -name '*.py' -newer README.md
      head -5 app/main.py
      which python3`,
    changes: `
      python script.py
      python3 -c 'print(1)'
      python -m pytest
      pytest -q
      pip install requests
      pip install -r requirements.txt
      ruff check .
      black .
      mypy app
      python -m venv .venv
      uv sync`,
  },
  rust: {
    looks: `
      cargo --version
      rustc --version
      rustup --version
      rustup toolchain list
      cat Cargo.toml
      grep -n version Cargo.toml
      cat Cargo.lock | head -30
      rg "fn main" crates
      find crates -name '*.rs' | wc -l
      grep -rn unsafe crates | head
      ls crates
      sed -n 1,40p crates/core.rs
      wc -l crates/*.rs
      tail -n 5 Cargo.lock
      git log --oneline -- crates`,
    changes: `
      cargo build
      cargo test
      cargo check
      cargo clippy
      cargo fmt
      cargo run
      cargo tree
      cargo update
      cargo add serde
      rustup update`,
  },
  go: {
    looks: `
      go version
      go env
      go env GOPATH
      gofmt -l .
      gofmt -d cmd/main.go
      cat go.mod
      grep -rn "func main" cmd
      find . -name '*_test.go'
      ls cmd
      wc -l cmd/*.go
      head -20 cmd/main.go
      rg "TODO" cmd
      cat go.sum | wc -l
      grep -c require go.mod`,
    changes: `
      go build ./...
      go test ./...
      go vet ./...
      go run ./cmd
      go mod tidy
      go get example.com/x
      go generate ./...
      go install ./...
      gofmt -w .
      go env -w GOFLAGS=-x`,
  },
  java: {
    looks: `
      java -version
      java --version
      javac -version
      mvn --version
      gradle --version
      cat pom.xml
      cat build.gradle
      grep -n artifactId pom.xml
      find java -name '*.java' | head
      grep -rn "class " java
      ls java
      wc -l java/*.java
      jar tf lib.jar
      unzip -l lib.jar
      head -30 java/Main.java`,
    changes: `
      mvn test
      mvn -q package
      gradle build
      ./gradlew test
      javac java/Main.java
      java -jar app.jar
      mvn clean
      gradle dependencies`,
  },
  ci: {
    looks: `
      ls .github/workflows
      cat .github/workflows/ci.yml
      grep -n "runs-on" .github/workflows/ci.yml
      cat Makefile
      grep -n '^[a-z]*:' Makefile
      make --version
      cmake --version
      bash -n run.sh
      git describe --tags --always
      git rev-parse --short HEAD
      date -u +%Y%m%dT%H%M%SZ
      uname -m
      nproc
      free -h
      df -h .
      sha256sum README.md
      ls -la
      cat docs/guide.md | grep -c the
      test -d build || echo missing
      du -sh .
      head -c 100 README.md
      shellcheck --version
      gh --version
      docker --version`,
    changes: `
      make
      make test
      make -n build
      gh pr list
      gh run view
      docker build .
      act
      pre-commit run --all-files
      shellcheck -x run.sh
      env`,
  },
}

/** All of them. */
export const EVERYDAY: readonly EverydayCommand[] = (Object.keys(TABLE) as Ecosystem[]).flatMap((ecosystem) =>
  (['looks', 'changes'] as const).flatMap((kind) =>
    TABLE[ecosystem][kind]
      .trim()
      .split('\n')
      .map((line) => ({ ecosystem, command: line.trim(), changes: kind === 'changes' })),
  ),
)
