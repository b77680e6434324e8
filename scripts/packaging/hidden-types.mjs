import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * The types that the exported declarations of entry points mention, directly or through others, and that the same entry
 * point does not export: TypeScript could not write them into the declarations of a user.
 */
export function findHiddenTypes(ts, folder, entries) {
  const { exports } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  const wanted = Object.entries(exports).filter(
    ([name, entry]) => entries.test(name) && entry.import?.default !== undefined,
  )
  const files = wanted.map(([, entry]) => join(folder, entry.import.types))
  const options = { module: ts.ModuleKind.NodeNext, moduleResolution: ts.ModuleResolutionKind.NodeNext, types: [] }
  const program = ts.createProgram(files, options)
  const checker = program.getTypeChecker()
  const resolve = (symbol) => (symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol)
  const hidden = new Set()
  for (const [at, file] of files.entries()) {
    const module_ = checker.getSymbolAtLocation(program.getSourceFile(file))
    const exported = new Set(checker.getExportsOfModule(module_).map(resolve))
    const seen = new Set()
    const visit = (symbol) => {
      if (seen.has(symbol)) return
      seen.add(symbol)
      for (const declaration of symbol.declarations ?? []) {
        if (!declaration.getSourceFile().fileName.startsWith(folder)) continue
        if (ts.isTypeParameterDeclaration(declaration)) continue
        const isInterface = ts.isInterfaceDeclaration(declaration) || ts.isClassDeclaration(declaration)
        if (isInterface && !exported.has(symbol)) hidden.add(`${wanted[at][0]} ${symbol.name}`)
        walk(declaration)
      }
    }
    const walk = (node) => {
      const name = ts.isTypeReferenceNode(node)
        ? node.typeName
        : ts.isExpressionWithTypeArguments(node)
          ? node.expression
          : undefined
      const symbol = name && checker.getSymbolAtLocation(name)
      if (symbol) visit(resolve(symbol))
      ts.forEachChild(node, walk)
    }
    for (const symbol of exported) visit(symbol)
  }
  return [...hidden]
}
