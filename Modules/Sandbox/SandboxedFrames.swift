#if Sandbox
    import AlcedoCore
    import AlcedoRuntime
    import CSandboxShim
    import FoundationEssentials

    /// The frames of an animation, decoded in the workers on demand. Keeps the encoded file in memory, and no canvas.
    ///
    /// The frame after the last one comes from the worker that decoded that one, as long as it is idle and has not
    /// dropped the animation. Any other worker decodes from the beginning.
    final class SandboxedFrames: ImageFrameSource {
        private let list: FrameList
        private let data: Data
        private let format: ImageFormat
        private let options: DecodingOptions
        private let sandbox: Sandbox
        private let session: UInt64
        private let found: FrameDamage
        private let lastWorker = Locked<WorkerProcess?>(nil)

        init(
            _ list: FrameList, of data: Data, _ format: ImageFormat, _ options: DecodingOptions, _ sandbox: Sandbox
        ) {
            self.list = list
            self.data = data
            self.format = format
            self.options = options
            self.sandbox = sandbox
            session = sandbox.makeSession()
            found = FrameDamage(frameCount: list.delays.count)
        }

        deinit { use(nil) }

        var canvasSize: PixelSize { list.canvasSize }
        var frameCount: Int { found.frameCount }
        var playCount: Int? { list.playCount }
        var cost: Int { data.count }
        var damage: ImageDamage? { found.worst }

        func delay(at index: Int) -> Duration { list.delays[index] }

        func rawDelay(at index: Int) -> Duration { list.rawDelays[index] }

        func frame(at index: Int) throws -> PixelBuffer {
            try found.check(index)
            guard list.delays.indices.contains(index) else {
                throw ImageDecodingError(.corrupt, "the animation has no frame \(index)")
            }
            let last = lastWorker.withLock { $0?.id }
            return try sandbox.pool.withWorker(preferring: last) { worker in
                // A worker that has not had the animation needs the file.
                let file = worker.id == last ? nil : data
                try worker.send(.frame, format.rawValue, file, options, session: session, index: index)
                var reply = try worker.receive()
                if reply.kind == ReplyKind.unknownSession.rawValue, worker.id == last {
                    try worker.send(.frame, format.rawValue, data, options, session: session, index: index)
                    reply = try worker.receive()
                }
                switch ReplyKind(rawValue: reply.kind) {
                case .image: break
                case .failure:
                    let error = try worker.decodingError(reply)
                    found.record(error, at: index)
                    throw error
                case .ended:
                    var payload = try worker.payload(of: reply)
                    let count = try payload.number(in: 1...max(1, index))
                    let error = try ImageDecodingError(from: &payload)
                    found.record(error, at: count)
                    throw error
                default: throw WorkerFailure.violation("an unexpected message")
                }
                var receiver = PixelReceiver(options.limits)
                let pixels = try receiver.finish(reply, in: worker.output)
                guard pixels.size == canvasSize else {
                    throw WorkerFailure.violation("a frame of \(pixels.size) pixels")
                }
                var payload = try worker.payload(of: reply)
                found.record(try payload.damage(options))
                use(worker)
                return pixels
            }
        }

        /// Records the worker that has the state of the animation, which may have ended meanwhile.
        private func use(_ worker: WorkerProcess?) {
            lastWorker.withLock { last in
                last?.countAnimation(-1)
                worker?.countAnimation(1)
                last = worker
            }
        }
    }
#endif
