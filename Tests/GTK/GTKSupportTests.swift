import AlcedoGTK
import Testing

@Suite struct GTKSupportTests {
    @Test func `the views are there exactly when the trait is on`() {
        #if GTK
            #expect(GTKSupport.isEnabled)
        #else
            #expect(!GTKSupport.isEnabled)
        #endif
    }
}
