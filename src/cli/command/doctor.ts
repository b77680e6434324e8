import { showHelp } from '../line/show-help.ts'

/** `dragoman doctor`: examines a model, or looks at this machine. */
export async function doctorCommand(args: string[]): Promise<number | void> {
  if (args.length === 0) return showHelp('doctor')
  if (args.includes('--local')) {
    const { doctorLocal } = await import('./doctor-local.ts')
    return doctorLocal(args.filter((arg) => arg !== '--local'))
  }
  return (await import('./doctor-model.ts')).doctorModel(args)
}
