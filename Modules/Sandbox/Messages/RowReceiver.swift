#if Sandbox
    import AlcedoCore
    import CSandboxShim

    /// Passes the rows of a worker to a consumer. Every row is copied out of the shared memory first, because the
    /// worker could change it while the consumer reads it.
    struct RowReceiver {
        private let consumer: any PixelRowConsumer
        private let options: DecodingOptions
        private var header: PixelRowHeader?
        private var rowCount = 0
        private var rows: [UInt8] = []
        /// The error of the consumer, after which rows are received but not passed on.
        private var consumerError: (any Error)?

        init(_ consumer: any PixelRowConsumer, _ options: DecodingOptions) {
            self.consumer = consumer
            self.options = options
        }

        /// Receives messages until the worker has finished the image, and returns the damage that the decoder
        /// tolerated. Throws `WorkerFailure`, the error of the decoder or that of the consumer.
        mutating func receive(from worker: WorkerProcess) throws -> ImageDamage? {
            while true {
                let reply = try worker.receive()
                switch ReplyKind(rawValue: reply.kind) {
                case .rowHeader:
                    try begin(reply, worker)
                    try worker.send(consumerError == nil ? .proceed : .cancel)
                case .rows:
                    try copy(reply, worker)
                    forward()
                    try worker.send(consumerError == nil ? .proceed : .cancel)
                case .done:
                    try finish()
                    var payload = try worker.payload(of: reply)
                    return try payload.damage(options.forRows)
                case .failure:
                    let error = try worker.decodingError(reply)
                    throw consumerError ?? error
                default: throw WorkerFailure.violation("an unexpected message")
                }
            }
        }

        private mutating func begin(_ reply: alcedo_sandbox_reply, _ worker: WorkerProcess) throws {
            guard header == nil else { throw WorkerFailure.violation("two headers") }
            let (size, format, alphaMode) = try reply.checkedHeader(options.limits)
            var payload = try worker.payload(of: reply)
            var header = PixelRowHeader(
                size: size, format: format, alphaMode: alphaMode, colorProfile: try payload.metadata(options.limits),
                orientation: try reply.checkedOrientation())
            header.hasInks = try payload.hasInks(in: format, options)
            header.reduction = try payload.reduction(of: size)
            self.header = header
            do {
                try consumer.begin(header)
            } catch {
                consumerError = error
            }
        }

        private mutating func copy(_ reply: alcedo_sandbox_reply, _ worker: WorkerProcess) throws {
            let count = Int(reply.code)
            guard let header, count > 0, count <= header.size.height - rowCount else {
                throw WorkerFailure.violation("more rows than the image has")
            }
            // Otherwise, a hostile worker could make the app hold a whole image.
            guard count <= OutputLayout.rowsPerPiece(bytesPerRow: header.bytesPerRow) else {
                throw WorkerFailure.violation("too many rows at once")
            }
            rows = Array(try reply.part(of: worker.output, count: count * header.bytesPerRow))
            rowCount += count
        }

        private mutating func forward() {
            guard consumerError == nil, let header else { return }
            do {
                try rows.withUnsafeBytes { rows in
                    for start in stride(from: 0, to: rows.count, by: header.bytesPerRow) {
                        let row = UnsafeRawBufferPointer(rebasing: rows[start..<start + header.bytesPerRow])
                        try consumer.consume(RawSpan(_unsafeBytes: row))
                    }
                }
            } catch {
                consumerError = error
            }
        }

        private func finish() throws {
            if let consumerError { throw consumerError }
            guard let header, rowCount == header.size.height else {
                throw WorkerFailure.violation("fewer rows than the image has")
            }
            try consumer.finish()
        }
    }
#endif
