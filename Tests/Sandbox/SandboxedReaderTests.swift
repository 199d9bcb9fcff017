#if Sandbox
    import AlcedoCodecs
    import AlcedoCore
    import AlcedoLibc
    import AlcedoTesting
    import Foundation
    import TestSupport
    import Testing

    @testable import AlcedoSandbox

    extension SandboxTests {
        /// The conversation with a worker about one image.
        @Suite struct SandboxedReaderTests {
            private let options = DecodingOptions()

            private func file() throws -> Data {
                try #require(CodecRegistry.standard.encoder(for: .png))
                    .encode(.coordinates(PixelSize(width: 30, height: 20)))
            }

            private func reader(_ data: Data, in sandbox: Sandbox) throws -> any ImageReading {
                try SandboxedDecoder(.png, in: sandbox).open(data, limits: options.limits)
            }

            @Test func `all that is asked of an image until it is decoded is one request`() throws {
                let sandbox = try Sandbox.testing { $0.requestsPerWorker = 1 }
                defer { sandbox.shutDown() }
                let data = try file()
                let plain = try CodecRegistry.standard.open(data)

                let reader = try reader(data, in: sandbox)
                #expect(reader.header == plain.header)
                #expect(try reader.info() == plain.info())
                #expect(try reader.decodingByteCount(options) > plain.decodingByteCount(options))
                #expect(try reader.info() == plain.info())
                #expect(sandbox.statistics.recycledWorkers == 0)
                #expect(try reader.decode(options).pixels == plain.decode(options).pixels)

                #expect(sandbox.statistics.requests == 1)
                #expect(sandbox.statistics.recycledWorkers == 1)
            }

            @Test func `what is asked after decoding opens the image again`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let reader = try reader(try file(), in: sandbox)
                let rows = PixelRowCollector()

                let image = try reader.decode(options)
                try reader.decodeRows(options, into: rows)

                #expect(rows.image?.pixels == image.pixels)
                #expect(try reader.info().size == image.size)
                #expect(sandbox.statistics.requests == 3)
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            /// The header and the error use the same memory, and both are sent before the app reads the first row.
            @Test func `an image that ends before its first rows are sent is the error of its decoder`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = try file().dropLast(30)
                let reader = try CodecRegistry.standard.open(Data(data))
                let expected = #expect(throws: ImageDecodingError.self) {
                    try reader.decodeRows(options, into: PixelRowCollector())
                }

                for _ in 0..<50 {
                    let error = #expect(throws: ImageDecodingError.self) {
                        try self.reader(Data(data), in: sandbox).decodeRows(options, into: PixelRowCollector())
                    }
                    #expect(error?.code == expected?.code)
                    #expect(error?.message == expected?.message)
                }
                #expect(sandbox.statistics.violations == 0)
            }

            @Test func `the worker of a reader that is released is free`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let data = try file()

                for _ in 0..<3 { #expect(try reader(data, in: sandbox).info().size.width == 30) }
                for count in [0, 5, 30] {
                    #expect(throws: ImageDecodingError.self) { try reader(data.prefix(count), in: sandbox) }
                }

                try sandbox.checkOrdinaryImage()
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `a worker that is killed between two questions costs no image`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let reader = try reader(try file(), in: sandbox)
                let id = try #require(Workers.ids.first)

                kill(id, SIGKILL)
                var info = siginfo_t()
                waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)

                #expect(try reader.decode(options).size == PixelSize(width: 30, height: 20))
                #expect(sandbox.statistics.lostWorkers == 1)
                #expect(sandbox.statistics.crashes == 0)
                #expect(sandbox.statistics.requests == 1)
            }

            @Test func `an image with which a second worker ends is an error of its decoder`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let lease = WorkerLease(of: sandbox.pool)
                var beginCount = 0

                let error = #expect(throws: ImageDecodingError.self) {
                    try lease.withWorker { worker in
                        beginCount += 1
                        try worker.send(.open, "hostile", Data("gray 3".utf8), options)
                        _ = try worker.receive(.opened)
                        let id = try #require(Workers.ids.first)
                        kill(id, SIGSEGV)
                        var info = siginfo_t()
                        waitid(P_PID, id_t(id), &info, WEXITED | WNOWAIT)
                    } _: { worker in
                        try worker.send(.info, options)
                    }
                }

                #expect(error?.code == .decoderFailed)
                #expect(error?.message.contains("SIGSEGV") == true)
                #expect(beginCount == 2)
                #expect(sandbox.statistics.lostWorkers == 1)
                #expect(sandbox.statistics.crashes == 1)
                try sandbox.checkOrdinaryImage()
            }

            @Test func `a worker that still decodes after an error of the app is replaced`() throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                for (waits, count) in [(true, 0), (false, 1)] {
                    #expect(throws: CancellationError.self) {
                        try sandbox.pool.withWorker { worker in
                            try worker.send(.open, "hostile", Data("gray 3".utf8), options)
                            _ = try worker.receive(.opened)
                            try worker.send(.decode, options)
                            if waits { _ = try worker.receive(.image) }
                            throw CancellationError()
                        }
                    }
                    #expect(sandbox.statistics.recycledWorkers == count)
                    try sandbox.checkOrdinaryImage()
                }
            }

            @Test(arguments: [0, -5])
            func `an image of an empty or negative size is damaged, and costs no worker`(side: Int) throws {
                let sandbox = try Sandbox.testing()
                defer { sandbox.shutDown() }
                let decoder = SandboxedDecoder(.hostile, in: sandbox)
                let file = Data("gray \(side)".utf8)

                let reader = try decoder.open(file, limits: options.limits)
                #expect(reader.header.size == PixelSize(width: 0, height: 0))
                let errors = [
                    #expect(throws: ImageDecodingError.self) { try reader.info() },
                    #expect(throws: ImageDecodingError.self) { try reader.decode(options) },
                    #expect(throws: ImageDecodingError.self) { try decoder.decode(file, options: options) },
                ]

                for error in errors {
                    #expect(error?.code == .corrupt)
                    #expect(error?.message == "the size is \(side) x \(side) pixels")
                }
                #expect(sandbox.statistics.violations == 0)
                #expect(sandbox.statistics.startedWorkers == 1)
            }

            @Test func `a worker in use ends after its request when the sandbox is shut down`() throws {
                let sandbox = try Sandbox.testing()
                let reader = try reader(try file(), in: sandbox)

                sandbox.shutDown()

                #expect(try reader.decode(options).size == PixelSize(width: 30, height: 20))
                #expect(Workers.ids.isEmpty)
                #expect(throws: ImageDecodingError.self) { try reader.info() }
            }
        }
    }
#endif
