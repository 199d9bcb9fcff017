#if Sandbox
    public import AlcedoCore
    import CSandboxShim
    public import FoundationEssentials

    /// Work on the bytes of an untrusted file that is not decoding, such as a conversion without loss. A worker runs
    /// it.
    ///
    /// ```swift
    /// let reversal = SandboxedConversion("reverse") { data, _, _ in Data(data.reversed()) }
    /// SandboxWorker.runIfRequested(.standard, conversions: [reversal])
    /// let reversed = try Sandbox().convert(data, by: "reverse")
    /// ```
    public struct SandboxedConversion: Sendable {
        /// The function that converts the bytes of a file.
        ///
        /// The first parameter is the file, in memory that is valid only until the function returns. The second one is
        /// the argument of the request, and the third one its limits. Errors other than
        /// ``/AlcedoCore/ImageDecodingError`` become one with the code `decoderFailed`.
        public typealias Body = @Sendable (Data, Int, DecodingLimits) throws -> Data

        /// The name by which requests select the conversion, at most 64 bytes.
        public let name: String
        let convert: Body

        /// Creates a conversion.
        ///
        /// - Parameters:
        ///   - name: The name by which requests select the conversion, at most 64 bytes.
        ///   - convert: The function that converts the bytes of a file.
        public init(_ name: String, _ convert: @escaping Body) {
            self.name = name
            self.convert = convert
        }
    }

    extension Sandbox {
        /// Converts a file in a worker. Blocks while the worker works.
        ///
        /// The result comes from a process that the file may have taken over: its number of bytes is checked, and its
        /// contents are not.
        ///
        /// - Parameters:
        ///   - data: The file.
        ///   - name: The name of a conversion that the workers pass to
        ///     ``SandboxWorker/runIfRequested(_:conversions:prepare:)``.
        ///   - argument: A number for the conversion. Default: 0.
        ///   - limits: The limits for the conversion. Default: the default limits.
        ///   - maximumByteCount: The maximum number of bytes in the result, which the app copies. Default: no limit
        ///     below ``SandboxConfiguration/maximumOutputByteCount``.
        /// - Throws: ``/AlcedoCore/ImageDecodingError``: `exceedsLimit` for a larger result, `decoderUnavailable` for a
        ///   name that the workers do not know, the errors of the conversion, and those of ``SandboxedDecoder``.
        public func convert(
            _ data: Data, by name: String, argument: Int = 0, limits: DecodingLimits = DecodingLimits(),
            maximumByteCount: Int = .max
        ) throws(ImageDecodingError) -> Data {
            try SandboxedReader.typed {
                try pool.withWorker { worker in
                    try worker.send(.convert, name, data, DecodingOptions(limits: limits), index: argument)
                    let reply = try worker.receive(.converted)
                    guard let count = Int(exactly: reply.value), count >= 0 else {
                        throw WorkerFailure.violation("an invalid number of bytes")
                    }
                    guard count <= maximumByteCount else {
                        throw ImageDecodingError(
                            .exceedsLimit,
                            "sandbox: \(count) bytes of \(name) exceed the limit of \(maximumByteCount) bytes")
                    }
                    return Data(try reply.part(of: worker.output, count: count))
                }
            }
        }
    }
#endif
