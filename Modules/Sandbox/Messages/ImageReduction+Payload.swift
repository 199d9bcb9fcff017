#if Sandbox
    import AlcedoCore

    extension PayloadWriter {
        mutating func append(_ reduction: ImageReduction?) {
            append(reduction == nil ? 0 : 1)
            guard let reduction else { return }
            append(reduction.fullSize.width)
            append(reduction.fullSize.height)
            for number in [reduction.x, reduction.y, reduction.width, reduction.height] {
                append(Int64(bitPattern: number.bitPattern))
            }
        }
    }

    extension PayloadReader {
        /// Reads the position of an image of size `size`. Throws if a filter could not use it.
        mutating func reduction(of size: PixelSize) throws(WorkerFailure) -> ImageReduction? {
            guard try isPresent() else { return nil }
            let full = try PixelSize(width: number(in: 1...Int(Int32.max)), height: number(in: 1...Int(Int32.max)))
            let reduction = try ImageReduction(of: full, x: real(), y: real(), width: real(), height: real())
            guard reduction.fits(size) else { throw .violation("an invalid reduction") }
            return reduction
        }

        private mutating func real() throws(WorkerFailure) -> Double {
            Double(bitPattern: UInt64(bitPattern: try number()))
        }
    }
#endif
