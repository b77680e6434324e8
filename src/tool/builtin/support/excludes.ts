/** Folders of version control and packages: searched only if named. */
export const EXCLUDED_FOLDERS: readonly string[] = ['.git', '.svn', '.hg', 'node_modules', 'bower_components']

/** What read_many_files also skips by default: build output, caches and lock files. */
export const DEFAULT_EXCLUDES: readonly string[] = [
  '**/{.vscode,.idea,dist,build,out,coverage,target,__pycache__,.venv,venv,.cache,.next,.turbo}/**',
  '**/*.{bin,exe,dll,so,dylib,class,jar,war,o,a,pyc,pyo,wasm,node}',
  '**/*.{zip,tar,gz,bz2,xz,7z,rar,rpm,deb,dmg,iso}',
  '**/*.{woff,woff2,ttf,otf,eot,db,sqlite,sqlite3,doc,docx,xls,xlsx,ppt,pptx,odt,ods,odp}',
  '**/{package-lock.json,yarn.lock,pnpm-lock.yaml,Cargo.lock,poetry.lock,composer.lock}',
  '**/.DS_Store',
]

/** Media: a pattern matches them only if it names their extension. */
export const MEDIA_FILE_PATTERN =
  /\.(?:png|jpe?g|gif|webp|bmp|ico|heic|avif|mp3|wav|ogg|flac|m4a|aac|aiff|mp4|mov|avi|mkv|webm|pdf)$/i
