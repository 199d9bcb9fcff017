#if Sandbox
    import AlcedoCodecs
    import AlcedoCore
    import AlcedoSandbox

    SandboxWorker.runIfRequested(
        CodecRegistry.standard
            .adding(CodecRegistry.Entry(format: HostileDecoder.format, decoder: HostileDecoder()))
            // The app's entry selects the page, and not this one.
            .adding(CodecRegistry.Entry(format: PagedDecoder.format, decoder: PagedDecoder(page: 1))),
        conversions: HostileConversion.all, prepare: KeptFile.prepare)
#endif
print("This program only runs as a worker of the tests of AlcedoSandbox, with the package trait Sandbox.")
