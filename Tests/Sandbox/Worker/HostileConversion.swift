#if Sandbox
    import AlcedoCore
    import AlcedoSandbox
    import CSandboxShim
    import FoundationEssentials

    /// Conversions that work, and one whose file is the name of a misbehavior.
    enum HostileConversion {
        static let all = [
            SandboxedConversion("reverse") { data, _, _ in Data(data.reversed()) },
            SandboxedConversion("repeat") { data, count, _ in Data((0..<count).flatMap { _ in data }) },
            SandboxedConversion("limit") { _, _, limits in Data("\(limits.maximumPixelCount)".utf8) },
            SandboxedConversion("hostile", misbehave),
        ]

        /// An error of another type than decoders throw.
        private struct OtherError: Error {}

        private static func misbehave(_ data: Data, _ argument: Int, _ limits: DecodingLimits) throws -> Data {
            let word = String(decoding: data, as: UTF8.self)
            if let crash = Crash(rawValue: word) { crash.run() }
            if let call = ForbiddenCall(rawValue: word) { call.run() }
            if let forgery = Forgery(rawValue: word) { forgery.run() }
            try Excess(rawValue: word)?.run()
            if word == "negative" || word == "endless" {
                var reply = alcedo_sandbox_reply()
                (reply.kind, reply.value) = (13, word == "negative" ? -1 : .max)
                Forgery.send(reply, MemoryLayout<alcedo_sandbox_reply>.size)
            }
            if word == "corrupt" { throw ImageDecodingError(.corrupt, "on purpose") }
            throw OtherError()
        }
    }
#endif
