#if Sandbox
    import AlcedoCore

    extension ColorDescription {
        /// Writes the code points, or the chromaticities and the transfer function of a description without them.
        func write(to payload: inout PayloadWriter) {
            payload.append(isFullRange ? 1 : 0)
            payload.append(codePoints == nil ? 0 : 1)
            if let codePoints {
                payload.append(Int64(codePoints.primaries))
                payload.append(Int64(codePoints.transfer))
                return
            }
            for color in [primaries.red, primaries.green, primaries.blue, primaries.white] {
                payload.append([color.x, color.y])
            }
            switch transfer {
            case .parametric(let gamma, let a, let b, let c, let d):
                payload.append(0)
                payload.append([gamma, a, b, c, d])
            case .pq: payload.append(1)
            case .hlg: payload.append(2)
            }
        }

        /// Reads the color space that a worker found. Throws if it is impossible.
        init(from payload: inout PayloadReader) throws(WorkerFailure) {
            let isFullRange = try payload.isPresent()
            if try payload.isPresent() {
                let (primaries, transfer) = (try payload.number(in: 0...255), try payload.number(in: 0...255))
                guard
                    let description = ColorDescription(
                        primaries: UInt8(primaries), transfer: UInt8(transfer), isFullRange: isFullRange)
                else { throw .violation("reserved code points") }
                self = description
                return
            }
            let primaries = try ColorPrimaries(
                red: payload.chromaticity(), green: payload.chromaticity(), blue: payload.chromaticity(),
                white: payload.chromaticity())
            self.init(primaries, try payload.transferFunction())
            self.isFullRange = isFullRange
        }
    }

    extension PayloadWriter {
        fileprivate mutating func append(_ numbers: [Double]) {
            for number in numbers { append(Int64(bitPattern: number.bitPattern)) }
        }
    }

    extension PayloadReader {
        /// Reads a fraction. The range keeps the fixed-point numbers of an ICC profile from overflowing.
        private mutating func fraction() throws(WorkerFailure) -> Double {
            let value = Double(bitPattern: UInt64(bitPattern: try number()))
            guard (-1_000...1_000).contains(value) else { throw .violation("a fraction out of range") }
            return value
        }

        fileprivate mutating func chromaticity() throws(WorkerFailure) -> ColorPrimaries.Chromaticity {
            try ColorPrimaries.Chromaticity(fraction(), fraction())
        }

        fileprivate mutating func transferFunction() throws(WorkerFailure) -> TransferFunction {
            switch try number(in: 0...2) {
            case 0:
                return try .parametric(gamma: fraction(), a: fraction(), b: fraction(), c: fraction(), d: fraction())
            case 1: return .pq
            default: return .hlg
            }
        }
    }
#endif
