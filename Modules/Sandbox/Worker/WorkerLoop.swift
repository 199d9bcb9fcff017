#if Sandbox
    import AlcedoCore
    import CSandboxShim
    import FoundationEssentials

    /// Serves the requests of the app, one after another, in a confined process.
    struct WorkerLoop {
        private let codecs: CodecRegistry
        private let conversions: [SandboxedConversion]
        private let input: UnsafeRawBufferPointer
        private let output: OutputMemory
        /// The opened image, whose file is in the input until the next one is.
        private var image: (any ImageReading)?
        /// The animations whose frames were requested last, in the order of the requests.
        private var sessions: [(id: UInt64, frames: any ImageFrameSource)] = []

        private static let maximumSessionCount = 4

        init(
            _ codecs: CodecRegistry, _ conversions: [SandboxedConversion], input: UnsafeRawBufferPointer,
            output: OutputMemory
        ) {
            self.codecs = codecs
            self.conversions = conversions
            self.input = input
            self.output = output
        }

        mutating func run() -> Never {
            while true {
                let request = WorkerSocket.receive()
                guard request.kind != RequestKind.close.rawValue else {
                    image = nil
                    continue
                }
                do {
                    WorkerSocket.send(try serve(request))
                } catch {
                    WorkerSocket.send(failure(error))
                }
            }
        }

        private mutating func serve(_ request: alcedo_sandbox_request) throws -> alcedo_sandbox_reply {
            let options = request.options
            switch RequestKind(rawValue: request.kind) {
            case .open:
                image = nil
                let decoder = try decoder(of: request).selecting(page: Int(request.index))
                let reader = try decoder.open(data(of: request), limits: options.limits)
                image = reader
                var reply = alcedo_sandbox_reply(.opened)
                let size = reader.header.size
                // The codec reports a size that no image has when the app asks for more.
                if size.isPositive, Int32(exactly: size.width) != nil, Int32(exactly: size.height) != nil {
                    (reply.width, reply.height) = (Int64(size.width), Int64(size.height))
                }
                reply.orientation = UInt8(reader.header.orientation.rawValue)
                return reply
            case .info: return try reply(try openedImage().info())
            case .measure: return try measure(openedImage(), options)
            case .decode:
                let reader = try openedImage()
                image = nil
                // The image is released after its reply is complete and before the next request.
                return try output.lending { try reply(try reader.decode(options)) }
            case .rows:
                let reader = try openedImage()
                image = nil
                let sender = RowSender(output)
                let damage: ImageDamage?
                do {
                    damage = try reader.decodeRows(options, into: sender)
                } catch {
                    sender.awaitAll()
                    throw error
                }
                sender.awaitAll()
                var payload = PayloadWriter(output.payload)
                payload.append(damage)
                return try complete(alcedo_sandbox_reply(.done), payload)
            case .frame: return try frame(request, decoder(of: request), options)
            case .convert:
                // The file of the opened image has been overwritten.
                image = nil
                return try convert(request, options.limits)
            case .proceed, .cancel, .close, nil:
                throw ImageDecodingError(.decoderFailed, "sandbox: an unexpected request")
            }
        }

        private func openedImage() throws(ImageDecodingError) -> any ImageReading {
            guard let image else { throw ImageDecodingError(.decoderFailed, "sandbox: no image is open") }
            return image
        }

        private func decoder(of request: alcedo_sandbox_request) throws(ImageDecodingError) -> any ImageDecoding {
            let name = name(of: request)
            guard let entry = codecs.entries.first(where: { $0.format.rawValue == name }) else {
                throw ImageDecodingError(.unknownFormat, "sandbox: the worker has no codec for \(name)")
            }
            return entry.decoder
        }

        private func name(of request: alcedo_sandbox_request) -> String {
            String(decoding: input.prefix(Int(request.name_count)), as: UTF8.self)
        }

        private func convert(
            _ request: alcedo_sandbox_request, _ limits: DecodingLimits
        ) throws -> alcedo_sandbox_reply {
            let name = name(of: request)
            guard let conversion = conversions.first(where: { $0.name == name }) else {
                throw ImageDecodingError(.decoderUnavailable, "sandbox: the worker has no conversion \(name)")
            }
            let result = try conversion.convert(data(of: request), Int(request.index), limits)
            guard let area = output.copyArea(offset: 0, count: result.count) else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "sandbox: \(result.count) bytes exceed the limit of \(output.capacity) bytes "
                        + "(SandboxConfiguration.maximumOutputByteCount)")
            }
            result.withUnsafeBytes { area.copyMemory(from: $0) }
            var reply = alcedo_sandbox_reply(.converted)
            reply.offset = output.outputOffset(ofCopy: 0)
            reply.value = Int64(result.count)
            return reply
        }

        /// Returns the encoded image without copying it. Valid until the reply.
        private func data(of request: alcedo_sandbox_request) -> Data {
            guard request.input_count > 0, let base = input.baseAddress else { return Data() }
            return Data(
                bytesNoCopy: UnsafeMutableRawPointer(mutating: base + InputLayout.dataOffset),
                count: Int(request.input_count), deallocator: .none)
        }

        private func measure(
            _ reader: any ImageReading, _ options: DecodingOptions
        ) throws(ImageDecodingError) -> alcedo_sandbox_reply {
            let count = try reader.decodingByteCount(options)
            // The pixels exist a second time in the app. Only vector images become larger than they are.
            let size = reader.header.size
            let target = options.target.map { size.scaled(to: $0.size, mode: $0.mode, enlarging: true) } ?? size
            let format = options.withDepthOfRange.pixelFormat
            let pixels = [size, target].map { PixelBuffer.byteCount(size: $0, format: format) ?? count }
            let copy = min(count, max(pixels[0], pixels[1]))
            var reply = alcedo_sandbox_reply(.count)
            let (sum, overflow) = count.addingReportingOverflow(copy)
            reply.value = Int64(overflow ? Int.max : sum)
            return reply
        }

        private mutating func frame(
            _ request: alcedo_sandbox_request, _ decoder: any ImageDecoding, _ options: DecodingOptions
        ) throws -> alcedo_sandbox_reply {
            guard let frames = try self.frames(request, decoder, options) else {
                return alcedo_sandbox_reply(.unknownSession)
            }
            // The app has checked the index. The animation may have ended before it since.
            let index = Int(request.index)
            var payload = PayloadWriter(output.payload)
            do {
                let pixels = try frames.frame(at: index)
                payload.append(frames.damage)
                return try complete(try reply(pixels: pixels, orientation: .up), payload)
            } catch let error as ImageDecodingError {
                guard index >= frames.frameCount else { throw error }
                payload.append(frames.frameCount)
                error.write(to: &payload)
                return try complete(alcedo_sandbox_reply(.ended), payload)
            }
        }

        /// Returns the animation of a request, or nil if it is unknown and the request has no file.
        private mutating func frames(
            _ request: alcedo_sandbox_request, _ decoder: any ImageDecoding, _ options: DecodingOptions
        ) throws -> (any ImageFrameSource)? {
            if let index = sessions.firstIndex(where: { $0.id == request.session }) {
                let known = sessions.remove(at: index)
                sessions.append(known)
                return known.frames
            }
            guard request.input_count > 0 else { return nil }
            // The animation keeps the file, so it needs a copy.
            let copy = Data(input[InputLayout.dataOffset..<InputLayout.dataOffset + Int(request.input_count)])
            guard let frames = try decoder.decode(copy, options: options).frames else {
                throw ImageDecodingError(.corrupt, "the image is not animated")
            }
            if sessions.count == Self.maximumSessionCount { sessions.removeFirst() }
            sessions.append((request.session, frames))
            return frames
        }

        // MARK: Replies

        private func reply(_ info: ImageInfo) throws(ImageDecodingError) -> alcedo_sandbox_reply {
            var payload = PayloadWriter(output.payload)
            info.write(to: &payload)
            return try complete(alcedo_sandbox_reply(.info), payload)
        }

        private func reply(_ image: DecodedImage) throws(ImageDecodingError) -> alcedo_sandbox_reply {
            var payload = PayloadWriter(output.payload)
            image.write(to: &payload)
            return try complete(try reply(pixels: image.pixels, orientation: image.orientation), payload)
        }

        private func reply(
            pixels: PixelBuffer, orientation: ImageOrientation
        ) throws(ImageDecodingError) -> alcedo_sandbox_reply {
            guard let offset = output.place(pixels) else {
                throw ImageDecodingError(
                    .exceedsLimit,
                    "sandbox: \(pixels.size) pixels exceed the limit of \(output.capacity) bytes "
                        + "(SandboxConfiguration.maximumOutputByteCount)")
            }
            var reply = alcedo_sandbox_reply(.image)
            reply.offset = UInt64(offset)
            reply.describe(pixels.size, pixels.format, pixels.alphaMode, orientation)
            return reply
        }

        private func complete(
            _ reply: alcedo_sandbox_reply, _ payload: PayloadWriter
        ) throws(ImageDecodingError) -> alcedo_sandbox_reply {
            guard !payload.isFull else {
                throw ImageDecodingError(
                    .exceedsLimit, "sandbox: the metadata exceeds the limit of \(OutputLayout.payloadByteCount) bytes")
            }
            var reply = reply
            reply.payload_count = UInt64(payload.count)
            return reply
        }

        private func failure(_ error: any Error) -> alcedo_sandbox_reply {
            let decodingError =
                error as? ImageDecodingError ?? ImageDecodingError(.decoderFailed, "the decoder failed: \(error)")
            var payload = PayloadWriter(output.payload)
            decodingError.write(to: &payload)
            var reply = alcedo_sandbox_reply(.failure)
            reply.payload_count = UInt64(payload.count)
            return reply
        }
    }

    extension alcedo_sandbox_reply {
        mutating func describe(
            _ size: PixelSize, _ format: PixelFormat, _ alphaMode: AlphaMode, _ orientation: ImageOrientation
        ) {
            (width, height) = (Int64(size.width), Int64(size.height))
            pixel_format = Codes.code(of: format, in: PixelFormat.allCases)
            alpha_mode = Codes.code(of: alphaMode, in: Codes.alphaModes)
            self.orientation = UInt8(orientation.rawValue)
        }
    }
#endif
