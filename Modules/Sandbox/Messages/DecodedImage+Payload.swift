#if Sandbox
    import AlcedoCore
    import CSandboxShim
    import FoundationEssentials

    extension DecodedImage {
        /// Writes everything but the pixels.
        func write(to payload: inout PayloadWriter) {
            payload.append(colorProfile)
            payload.append(hasInks ? 1 : 0)
            payload.append(reduction)
            payload.append(Int64(bitPattern: scale.bitPattern))
            payload.append(format == nil ? 0 : 1)
            if let format { payload.append(format.rawValue) }
            payload.append(damage)
            payload.append(frames == nil ? 0 : 1)
            guard let frames else { return }
            payload.append(frames.canvasSize.width)
            payload.append(frames.canvasSize.height)
            payload.append(frames.playCount)
            payload.append(frames.frameCount)
            for index in 0..<frames.frameCount {
                payload.append(frames.rawDelay(at: index))
                payload.append(frames.delay(at: index))
            }
        }

        /// Copies an image from the memory of a worker. Throws if it is impossible, exceeds the limits, or is not what
        /// the request allows: an image of another format, inks, or a damaged image.
        init(
            _ reply: alcedo_sandbox_reply, _ pixels: PixelBuffer, in output: UnsafeRawBufferPointer,
            of requested: ImageFormat, _ options: DecodingOptions,
            frames makeFrames: (FrameList) -> any ImageFrameSource
        ) throws {
            let limits = options.limits
            self.init(pixels: pixels, orientation: try reply.checkedOrientation())
            var payload = try PayloadReader(output, count: reply.checkedPayloadCount())
            colorProfile = try payload.metadata(limits)
            hasInks = try payload.hasInks(in: pixels.format, options)
            reduction = try payload.reduction(of: pixels.size)
            scale = Double(bitPattern: UInt64(bitPattern: try payload.number()))
            guard scale.isFinite, scale > 0 else { throw WorkerFailure.violation("an invalid scale") }
            format = try payload.isPresent() ? payload.format() : nil
            guard format == nil || format == requested else { throw WorkerFailure.violation("another format") }
            damage = try payload.damage(options)
            if try payload.isPresent() { frames = makeFrames(try FrameList(from: &payload, limits: limits)) }
        }
    }

    extension PayloadWriter {
        /// Appends damage that may be absent.
        mutating func append(_ damage: ImageDamage?) {
            append(damage?.kind.rawValue)
            damage?.error.write(to: &self)
        }
    }

    extension PayloadReader {
        /// Reads damage that may be absent. Throws if it is more than the request tolerates.
        mutating func damage(_ options: DecodingOptions) throws(WorkerFailure) -> ImageDamage? {
            guard try isPresent() else { return nil }
            guard let kind = DamageTolerance(rawValue: try number(in: 0...options.tolerance.rawValue)) else {
                throw .violation("unknown damage")
            }
            return ImageDamage(kind, try ImageDecodingError(from: &self))
        }

        /// Reads whether the samples are inks. Throws if the format cannot hold them or the request excludes them.
        mutating func hasInks(in format: PixelFormat, _ options: DecodingOptions) throws(WorkerFailure) -> Bool {
            let hasInks = try isPresent()
            guard !hasInks || options.keepsInks else { throw .violation("inks that were not requested") }
            guard !hasInks || format == .rgba8 else { throw .violation("inks in \(format)") }
            return hasInks
        }
    }

    /// The canvas and the times of an animation, as a worker reported them.
    struct FrameList: Sendable {
        let canvasSize: PixelSize
        let playCount: Int?
        private(set) var rawDelays: [Duration] = []
        private(set) var delays: [Duration] = []

        fileprivate init(from payload: inout PayloadReader, limits: DecodingLimits) throws(WorkerFailure) {
            canvasSize = try PixelSize(
                width: payload.number(in: 1...Int(Int32.max)), height: payload.number(in: 1...Int(Int32.max)))
            guard canvasSize.pixelCount <= limits.maximumPixelCount else {
                throw .violation("a canvas beyond the limits")
            }
            playCount = try payload.isPresent() ? payload.number(in: 0...Int(UInt32.max)) : nil
            for _ in 0..<(try payload.number(in: 1...max(1, limits.maximumFrameCount))) {
                rawDelays.append(try payload.duration())
                let delay = try payload.duration()
                guard delay > .milliseconds(10) else { throw .violation("a frame that is shown for no time") }
                delays.append(delay)
            }
        }
    }

    extension alcedo_sandbox_reply {
        /// Returns the number of payload bytes, which must end before the pixels.
        func checkedPayloadCount() throws(WorkerFailure) -> UInt64 {
            guard payload_count <= UInt64(OutputLayout.payloadByteCount) else {
                throw .violation("a payload of \(payload_count) bytes")
            }
            return payload_count
        }

        func checkedOrientation() throws(WorkerFailure) -> ImageOrientation {
            guard let value = ImageOrientation(rawValue: Int(orientation)) else {
                throw .violation("an invalid orientation")
            }
            return value
        }

        /// Returns the size, format and alpha mode. Throws if they are invalid or exceed the limit of pixels.
        func checkedHeader(
            _ limits: DecodingLimits
        ) throws(WorkerFailure) -> (size: PixelSize, format: PixelFormat, alphaMode: AlphaMode) {
            // Larger sides could overflow the byte count of a row, even if the limits allow them.
            guard let width = Int32(exactly: width), let height = Int32(exactly: height),
                let format = Codes.value(pixel_format, in: PixelFormat.allCases),
                let alphaMode = Codes.value(alpha_mode, in: Codes.alphaModes)
            else { throw .violation("an invalid image") }
            let size = PixelSize(width: Int(width), height: Int(height))
            guard size.isPositive, size.pixelCount <= limits.maximumPixelCount else {
                throw .violation("an image of \(size) pixels")
            }
            return (size, format, alphaMode)
        }

        /// Returns the bytes at the offset of the reply, at most as many as an image can have.
        func part(of output: UnsafeRawBufferPointer, count: Int) throws(WorkerFailure) -> UnsafeRawBufferPointer {
            guard let start = Int(exactly: offset), start <= output.count, count <= output.count - start,
                count <= OutputLayout(byteCount: output.count).capacity
            else { throw .violation("pixels outside of the shared memory") }
            return UnsafeRawBufferPointer(rebasing: output[start..<start + count])
        }
    }
#endif
