export { mulberry32 } from '../../src/simulator/control/faults.ts'
